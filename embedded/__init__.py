"""The embedded default: a real PostgreSQL and a real Valkey, started beside whatever needs them.

`python -m embedded run -- COMMAND` and `python -m embedded up` are all there is to it. The scheduler knows
nothing of this package: it reads DATABASE_URL, CELERY_BROKER_URL and CACHE_URL, whoever set them.
"""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


class EmbeddedError(Exception):
    """What the person at the keyboard has to know or do; printed without a traceback."""
