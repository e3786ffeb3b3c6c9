"""Start the engines that are needed, and build the environment of the processes that use them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from embedded import data_dir, postgresql, valkey
from embedded.processes import Processes

DATABASE, BROKER, CACHE = "DATABASE_URL", "CELERY_BROKER_URL", "CACHE_URL"
NAMES = "EMBEDDED_ENGINES"  # the embedded engines in use; production refuses to start with them


def merged(environ: Mapping[str, str], urls: Mapping[str, str], names: list[str]) -> dict[str, str]:
    """Return `environ` with the `urls` of the engines in `names`; URLs that it already has stay."""
    result = dict(environ)
    if "postgresql" in names:  # PGPORT, PGOPTIONS and such were meant for another server
        result = {name: value for name, value in result.items() if not name.startswith("PG")}
    for name, url in urls.items():
        result[name] = result.get(name) or url
    if names:
        result[NAMES] = ",".join(names)
    return result


@contextmanager
def running(
    directory: Path, processes: Processes, environ: Mapping[str, str], *, durable: bool
) -> Iterator[dict[str, str]]:
    """Start the engines for which `environ` has no URL, or an empty one; yield the environment for their users.

    At the end, `processes` are stopped, the youngest first. So start the users of the engines in `processes`, too.
    """
    urls: dict[str, str] = {}
    names = []
    try:
        if not environ.get(DATABASE):
            urls[DATABASE] = postgresql.start(directory, processes, durable=durable)
            names.append("postgresql")
        if not (environ.get(BROKER) and environ.get(CACHE)):
            urls[BROKER], urls[CACHE] = valkey.start(directory, processes)
            names.append("valkey")
        result = merged(environ, urls, names)
        state = "".join(f"{name}={result[name]}\n" for name in urls)
        data_dir.write_private(directory / data_dir.STATE, state)  # for other terminals
        yield result
    finally:
        processes.stop()
        postgresql.tidy(directory)
