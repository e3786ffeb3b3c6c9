"""`python -m tools.celery_replay FILE`: tell how recorded Celery tasks would have waited as jobs.

It needs neither a Django project nor a database.
"""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from django.core.management.base import OutputWrapper

from jobs.console.cli.screen import Column, Screen, count, length
from tools.celery_replay.replay import Seen, compare, peak, read, replay

COLUMNS = [
    Column("TENANT", "tenant", flexible=True),
    Column("TASKS", lambda line: count(line.tasks), right=True),
    Column("RAN", lambda line: length(line.seconds), right=True),
    Column("WAITED P50", lambda line: length(line.was.p50), right=True),
    Column("P95", lambda line: length(line.was.p95), right=True),
    Column("MOST", lambda line: length(line.was.longest), right=True),
    Column("WOULD WAIT P50", lambda line: length(line.would_be.p50), right=True),
    Column("P95", lambda line: length(line.would_be.p95), right=True),
    Column("MOST", lambda line: length(line.would_be.longest), right=True),
]


def main(words: Sequence[str] | None = None) -> None:
    """Replay the record that the words of the command line name. Raises SystemExit with a line for whoever reads it."""
    parser = ArgumentParser(
        "python -m tools.celery_replay", description="Tell how Celery tasks would have waited as jobs."
    )
    parser.add_argument("file", type=_tasks, metavar="FILE", help="The record of tasks (docs/from-celery.md).")
    parser.add_argument("--slots", type=_whole, metavar="N", help="The slots of each tenant. Default: no limit.")
    parser.add_argument(
        "--tenant", type=_slots, metavar="NAME=N", action="append", default=[], help="The slots of one tenant."
    )
    parser.add_argument(
        "--processes", type=_whole, metavar="N", help="The worker processes. Default: the most that were busy."
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON document.")
    options = parser.parse_args(words)
    tasks: list[Seen] = options.file
    processes = options.processes or peak(tasks)
    slots = {task.tenant: options.slots for task in tasks if options.slots} | dict(options.tenant)
    lines = compare(tasks, replay(tasks, processes=processes, slots=slots))
    screen = Screen(OutputWrapper(sys.stdout), as_json=options.json)
    screen.document({"processes": processes, "tenants": [asdict(line) for line in lines]})
    screen.table(COLUMNS, lines)
    screen.say(f"{len(tasks):,} tasks, replayed with {processes:,} processes.")


def _tasks(path: str) -> list[Seen]:
    try:
        with Path(path).open(encoding="utf-8") as lines:
            tasks = list(read(lines))
    except OSError as error:
        raise ArgumentTypeError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ArgumentTypeError(f"{path}: {error}") from None
    if not tasks:
        raise ArgumentTypeError(f"{path}: no task is recorded there")
    return tasks


def _slots(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name:
        raise ArgumentTypeError(f"must be a tenant and its slots, as in acme=3, not {text!r}")
    return name, _whole(number)


def _whole(text: str) -> int:
    if re.fullmatch("[1-9][0-9]{0,8}", text) is None:
        raise ArgumentTypeError(f"must be a whole number from 1 on, not {text[:40]!r}")
    return int(text)


if __name__ == "__main__":
    main()
