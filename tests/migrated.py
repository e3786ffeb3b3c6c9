"""A PostgreSQL cluster with this project's tables, made once: each test with a server of its own starts from a copy.

Otherwise each of them would spend nine seconds of a processor on `initdb` and the migrations.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from embedded import REPOSITORY, binaries, data_dir, engines
from embedded.processes import Processes

KEPT = REPOSITORY / ".venv" / "migrated"  # also for the next run
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.settings"}


def put(directory: Path) -> None:
    """Put a copy beneath `directory`, where `engines.running` looks for the data of PostgreSQL."""
    KEPT.mkdir(exist_ok=True)
    directory.mkdir(exist_ok=True)
    with (KEPT / "lock").open("a") as lock:
        # One process makes it, and none removes it while another one copies it: `make test-15` has a server of its own.
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster = KEPT / key()
        if not cluster.exists():
            _make(cluster)
        _copy(cluster, directory / "postgresql")


def key() -> str:
    """What the tables depend on: the migrations, the versions of all packages, the server."""
    found = hashlib.sha256(str(binaries.postgres()).encode())
    for path in [REPOSITORY / "requirements-dev.lock", *sorted(REPOSITORY.glob("*/migrations/**/*.*"))]:
        if path.suffix != ".pyc":
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def _make(cluster: Path) -> None:
    for older in KEPT.glob("*/"):
        shutil.rmtree(older)
    taken = {engines.DATABASE, engines.BROKER, engines.CACHE, engines.NAMES}
    ours = {name: value for name, value in os.environ.items() if name not in taken}
    with data_dir.throwaway() as directory:
        with Processes() as processes, engines.running(directory, processes, ours, durable=False) as environ:
            command = [sys.executable, "manage.py", "migrate", "--skip-checks", "--verbosity", "0"]
            subprocess.run(command, cwd=REPOSITORY, env=environ | SETTINGS, check=True)
        unfinished = cluster.with_name("unfinished")
        _copy(directory / "postgresql", unfinished)
        unfinished.rename(cluster)


def _copy(cluster: Path, to: Path) -> None:
    """With its owner: root runs the server as somebody else."""
    subprocess.run(["cp", "--archive", "--reflink=auto", str(cluster), str(to)], check=True)
