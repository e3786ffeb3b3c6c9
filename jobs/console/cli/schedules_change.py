"""`manage.py schedules add | change`: what is stored, or would be, is shown in words and with its next times."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from jobs.authoring.recurrence import CATCH_UP, OVERLAP
from jobs.calls.request import LAST_PRIORITY
from jobs.console.cli import inputs
from jobs.console.cli.schedules_list import on_one, show
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import tenant_named
from jobs.engine.schedules import change
from jobs.models import Schedule

FIELDS = (
    *("name", "source_type", "source_id", "source_method", "args", "queue", "priority", "every", "cron", "tz"),
    *("jitter", "starts_at", "ends_at", "catch_up", "overlap"),
)
UNSET: Any = ...  # "none" is a value


def _add_arguments(parser: CommandParser) -> None:
    parser.add_argument("name", help="What it is called; unique for the tenant.")
    parser.add_argument("source_type", help="What it is a job of, e.g. reports.datareport.")
    parser.add_argument("source_id", type=_source_id, help="The id of the object; - for a job of the class.")
    parser.add_argument("source_method", metavar="method", help="The method, marked @job.")
    parser.add_argument("--tenant", required=True, metavar="SLUG", help="Whose jobs they are.")
    _options(parser)


def _change_arguments(parser: CommandParser) -> None:
    number(parser)
    parser.add_argument("--name", default=UNSET, metavar="NAME")
    parser.add_argument("--source-type", default=UNSET, metavar="TYPE")
    parser.add_argument("--source-id", type=_source_id, default=UNSET, metavar="ID", help="- for a job of the class.")
    parser.add_argument("--method", dest="source_method", default=UNSET, metavar="METHOD")
    _options(parser)


def number(parser: CommandParser) -> None:
    """Which schedule is meant."""
    parser.add_argument("id", type=inputs.job_id, help="As in the list.")
    parser.add_argument("--tenant", metavar="SLUG", help="Only if it is this tenant's.")


def _options(parser: CommandParser) -> None:
    def option(name: str, help: str, metavar: str, **more: Any) -> None:
        parser.add_argument(name, default=UNSET, metavar=metavar, help=help, **more)

    option("--every", "Between two due times; or --cron.", "SECONDS", type=inputs.seconds)
    option("--cron", "Five fields, or @daily and its kin.", "EXPRESSION")
    option("--tz", "The zone of --cron, e.g. Europe/Berlin; else UTC.", "ZONE")
    # Not "args": Django takes an option of that name for the positional arguments of the command.
    option("--args", "The arguments by name.", "JSON", dest="call", type=inputs.json_object)
    option("--queue", "Instead of the method's own; or none.", "NAME", type=_or_none(str))
    priority = _or_none(inputs.whole(0, LAST_PRIORITY))
    option("--priority", "0 is first, 10 last; or none: the method's own.", "N", type=priority)
    option("--jitter", "It runs later by its part of them.", "SECONDS", type=inputs.seconds)
    option("--starts-at", "E.g. 2030-01-31T09:00:00+01:00.", "MOMENT", type=inputs.moment)
    option("--ends-at", "Nothing is due later; or none.", "MOMENT", type=_or_none(inputs.moment))
    parser.add_argument("--catch-up", default=UNSET, choices=CATCH_UP, help="Of the times missed; else one.")
    parser.add_argument("--overlap", default=UNSET, choices=OVERLAP, help="While the last run is not over; else queue.")
    parser.add_argument("--dry-run", action="store_true", help="Check and show it; store nothing.")


def _or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: None if text == "none" else read(text)


def _source_id(text: str) -> str | None:
    return None if text == "-" else text


def _add(options: Options, screen: Screen) -> None:
    tenant = tenant_named(options["tenant"])
    _store(options, screen, lambda said: change.add(tenant, **said))


@on_one
def _change(schedule: Schedule, options: Options, screen: Screen) -> None:
    if schedule.declared:
        raise CommandError("id: the code declares this schedule: change it there; here pause, resume or run-now it")
    if not _said(options):
        raise CommandError("change: say what to change; see: manage.py schedules change --help")
    _store(options, screen, lambda said: change.change(schedule, **change.replacing(said)))


def _store(options: Options, screen: Screen, verb: Callable[[dict[str, Any]], Schedule]) -> None:
    with transaction.atomic():
        schedule = verb(_said(options))
        show(schedule, screen, stored=not options["dry_run"])
        transaction.set_rollback(options["dry_run"])
    screen.say("Nothing was stored: --dry-run." if options["dry_run"] else f"Stored schedule {schedule.pk}.")


def _said(options: Options) -> dict[str, Any]:
    given = {name: options["call" if name == "args" else name] for name in FIELDS}
    return {name: value for name, value in given.items() if value is not UNSET}


ADD = Subcommand("add", "Add a recurring job; it is due from now on.", _add_arguments, _add)
CHANGE = Subcommand("change", "Change a recurring job; it is due anew, from now on.", _change_arguments, _change)
