"""A backup, and a server on which it is restored, as deploy/README.md says."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection
from psycopg.conninfo import conninfo_to_dict

from embedded import REPOSITORY, fleet
from jobs.models import Worker
from tests.chaos import own_engines
from tests.pages import blocks
from tests.waiting import wait_until
from tests.warm import WarmProcesses

BLOCKS = [block.text for block in blocks(REPOSITORY / "deploy/README.md", "sh")]
[DUMP] = [text for text in BLOCKS if "pg_dump --format" in text]
[RESTORE] = [text for text in BLOCKS if "pg_restore" in text]
TypeIn = Callable[[str, dict[str, str]], str]


@contextmanager
def restored_elsewhere(type_in: TypeIn, directory: Path) -> Iterator[dict[str, str]]:
    """Django is on the restored database, up to the start of the workers; the environment for them."""
    with own_engines.running(directory) as engines, pytest.MonkeyPatch.context() as patch:
        url = engines.environ["DATABASE_URL"]
        server = conninfo_to_dict(url.replace("postgres://", "postgresql://"))
        typed = RESTORE.partition("systemctl start")[0]
        typed = re.sub(r"(?<=--dbname=)scheduler|(?<= )scheduler$", "restored", typed, flags=re.MULTILINE)
        typed = re.sub(r"--(owner|role)=scheduler", rf"--\1={server['user']}", typed)
        where = {f"PG{name.upper()}": str(server[name]) for name in ("host", "port", "user") if name in server}
        there = engines.environ | {
            "DATABASE_URL": re.sub(r"(?<=/)scheduler\b", "restored", url),
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "JOBS_BEAT_INTERVAL": "1",
            "JOBS_HAND_OVER_TIMEOUT": "2",
        }
        type_in(typed, there | where)
        connection.close()
        patch.setitem(connection.settings_dict, "NAME", "restored")
        yield there
        connection.close()


@contextmanager
def worker_of(there: dict[str, str], log: Path) -> Iterator[None]:
    with WarmProcesses() as processes:
        process = processes.start("worker", *fleet.worker(concurrency=2, name="restored", environ=there), log=log)
        wait_until(lambda: Worker.objects.filter(pid=process.pid).exists() or not process.alive, "the worker registers")
        assert process.alive, log.read_text()
        yield
