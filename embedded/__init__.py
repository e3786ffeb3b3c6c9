"""The embedded engines: a real PostgreSQL and a real Valkey, started beside the programs that need them.

The package has two commands: `python -m embedded run -- COMMAND` and `python -m embedded up`. The scheduler does not
know this package: it only reads DATABASE_URL, CELERY_BROKER_URL and CACHE_URL.
"""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


class EmbeddedError(Exception):
    """An error for the user, printed without a traceback."""
