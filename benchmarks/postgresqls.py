"""The PostgreSQL versions for the rows: the given one, or the embedded one and the oldest supported one."""

from collections.abc import Collection, Mapping
from pathlib import Path

from benchmarks import EVERY_VERSION
from embedded import binaries, engines

DEBIAN = Path("/usr/lib/postgresql")
OLDEST = 15  # that the README supports


def found(environ: Mapping[str, str]) -> list[str]:
    """Directories of programs, as POSTGRESQL_BIN takes them; "" leaves the choice to `embedded`, or to a URL."""
    oldest = _oldest()
    return [""] if _given(environ) or oldest is None else ["", str(oldest)]


def missing(environ: Mapping[str, str], rows: Collection[str]) -> str:
    """A remark if a version is missing; empty otherwise."""
    if _given(environ) or _oldest() is not None or EVERY_VERSION.isdisjoint(rows):
        return ""
    return f"PostgreSQL {OLDEST} is not installed (Debian: postgresql-{OLDEST}): measured only on the newest."


def _given(environ: Mapping[str, str]) -> bool:
    return bool(environ.get(engines.DATABASE) or environ.get(binaries.POSTGRESQL_BIN))


def _oldest() -> Path | None:
    directory = DEBIAN / str(OLDEST) / "bin"
    return directory if (directory / "postgres").is_file() else None
