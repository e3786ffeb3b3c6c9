"""`manage.py jobs replay`."""

from argparse import ArgumentTypeError
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

from django.core.management.base import CommandError, CommandParser

from jobs.from_celery.replay import Compared, Seen, compare, peak, read, replay
from jobs.management.cli import inputs
from jobs.management.cli.screen import Column, Screen, length
from jobs.management.cli.subcommands import Options, Subcommand

COLUMNS = [
    Column("TENANT", flexible=True),
    Column("TASKS", right=True),
    Column("RAN", right=True),
    Column("WAITED P50", right=True),
    Column("P95", right=True),
    Column("MOST", right=True),
    Column("WOULD WAIT P50", right=True),
    Column("P95", right=True),
    Column("MOST", right=True),
]


def arguments(parser: CommandParser) -> None:
    parser.add_argument("file", metavar="FILE", help="The record of Celery tasks (docs/from-celery.md).")
    parser.add_argument(
        "--slots", type=inputs.whole(1), metavar="N", help="The slots of each tenant. Default: no limit."
    )
    parser.add_argument(
        "--tenant", type=_slots, metavar="NAME=N", action="append", default=[], help="The slots of one tenant."
    )
    parser.add_argument(
        "--processes", type=inputs.whole(1), metavar="N", help="The worker processes. Default: the most that were busy."
    )


def run(options: Options, screen: Screen) -> None:
    tasks = _tasks(Path(options["file"]))
    processes = options["processes"] or peak(tasks)
    slots = {task.tenant: options["slots"] for task in tasks if options["slots"]} | dict(options["tenant"])
    found = compare(tasks, replay(tasks, processes=processes, slots=slots))
    screen.document({"processes": processes, "tenants": [asdict(one) for one in found]})
    screen.table(COLUMNS, [_row(one) for one in found])
    screen.say(f"{len(tasks):,} tasks, replayed with {processes:,} processes.")


def _tasks(path: Path) -> list[Seen]:
    try:
        with path.open(encoding="utf-8") as lines:
            tasks = list(read(lines))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None
    if not tasks:
        raise CommandError(f"{path}: no task is recorded there")
    return tasks


def _row(one: Compared) -> list[object]:
    waits = (one.was.p50, one.was.p95, one.was.longest, one.would_be.p50, one.would_be.p95, one.would_be.longest)
    return [one.tenant, f"{one.tasks:,}", *(length(timedelta(seconds=s)) for s in (one.seconds, *waits))]


def _slots(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name:
        raise ArgumentTypeError(f"must be a tenant and its slots, as in acme=3, not {text!r}")
    return name, inputs.whole(1)(number)


REPLAY = Subcommand("replay", "Tell how recorded Celery tasks would have waited as jobs.", arguments, run)
