"""Tests beside each other (pytest-xdist): in how many processes, and which of Valkey's databases are whose.

PostgreSQL's databases are told apart by pytest-django. Celery's broadcasts need nothing more than a database's number:
kombu puts it into the names of its channels, which Valkey's databases share.
"""

from urllib.parse import urlsplit, urlunsplit

TAKEN = 2  # databases: the broker and the cache of tests that run alone
MOST = 7  # processes: of Valkey's 16 databases each takes two


def how_many(cores: int, *urls: str) -> int:
    """Processes for the tests of this broker and cache; 0: none but pytest's own.

    Two for a core: most tests wait for other processes most of the time. RabbitMQ has no numbered databases.
    """
    return min(2 * cores, MOST) if all(map(_is_valkey, urls)) else 0


def own_databases(process: str, broker: str, cache: str) -> tuple[str, str]:
    """The URLs of the broker and the cache for a process of pytest-xdist, "gw0" say; other than Valkey's stay."""
    first = TAKEN + 2 * int(process.removeprefix("gw"))
    return _numbered(broker, first), _numbered(cache, first + 1)


def _numbered(url: str, number: int) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{number}")) if _is_valkey(url) else url


def _is_valkey(url: str) -> bool:
    return url.startswith(("redis://", "rediss://"))
