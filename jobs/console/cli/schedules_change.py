"""`manage.py schedules add | change`: store a schedule or only check it, and show it in words with its next times."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from jobs.authoring.recurrence import CATCH_UP, OVERLAP
from jobs.calls.request import LAST_PRIORITY
from jobs.console.cli import inputs
from jobs.console.cli.schedules import WHICH, on_one, show
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import tenant_named
from jobs.engine.schedules import change
from jobs.models import Schedule

FIELDS = (
    *("name", "source_type", "source_id", "source_method", "args", "queue", "priority", "every", "cron", "tz"),
    *("jitter", "starts_at", "ends_at", "catch_up", "overlap"),
)
option = partial(argument, default=inputs.UNSET)


def _source_id(text: str) -> str | None:
    return None if text == "-" else text


OPTIONS = (
    option("--every", type=inputs.seconds, metavar="SECONDS", help="The time between two due times; or give --cron."),
    option("--cron", metavar="EXPRESSION", help="Five fields, or @daily and the like."),
    option("--tz", metavar="ZONE", help="The time zone of --cron, e.g. Europe/Berlin. Default: UTC."),
    # Not "args": Django takes an option of that name for the positional arguments of the command.
    option("--args", dest="call", type=inputs.json_object, metavar="JSON", help="The arguments by name."),
    option(
        "--queue",
        type=inputs.or_none(str),
        metavar="NAME",
        help="Another queue than the method's; \"none\": the method's.",
    ),
    option(
        "--priority",
        type=inputs.or_none(inputs.whole(0, LAST_PRIORITY)),
        metavar="N",
        help='0 is first, 10 is last; "none": the method\'s.',
    ),
    option("--jitter", type=inputs.seconds, metavar="SECONDS", help="Delay each run by a fixed offset below this."),
    option(
        "--starts-at", type=inputs.moment, metavar="MOMENT", help="Nothing is due before, e.g. 2030-01-31T09:00+01:00."
    ),
    option(
        "--ends-at", type=inputs.or_none(inputs.moment), metavar="MOMENT", help='Nothing is due after; "none": no end.'
    ),
    option("--catch-up", choices=CATCH_UP, help="Which of the missed times run. Default: one."),
    option("--overlap", choices=OVERLAP, help="What to do while the last run has not ended. Default: queue."),
    argument("--dry-run", action="store_true", help="Check and show the schedule; store nothing."),
)
NEW = (
    argument("name", help="The name of the schedule; unique for the tenant."),
    argument("source_type", help="The model of the object, e.g. reports.datareport."),
    argument("source_id", type=_source_id, help="The id of the object; - for a job of the class."),
    argument("source_method", metavar="method", help="The method, marked @job."),
    argument("--tenant", required=True, metavar="SLUG", help="The tenant that owns the jobs."),
    *OPTIONS,
)
CHANGED = (
    *WHICH,
    option("--name", metavar="NAME"),
    option("--source-type", metavar="TYPE"),
    option("--source-id", type=_source_id, metavar="ID", help="- for a job of the class."),
    option("--method", dest="source_method", metavar="METHOD"),
    *OPTIONS,
)


def _add(options: Options, screen: Screen) -> None:
    tenant = tenant_named(options["tenant"])
    _store(options, screen, lambda values: change.add(tenant, **values))


@on_one
def _change(schedule: Schedule, options: Options, screen: Screen) -> None:
    if schedule.declared:
        raise CommandError(
            "id: the code declares this schedule: change it in the code; here you can pause, resume or run-now it"
        )
    if not _given_values(options):
        raise CommandError("change: name what to change; see: manage.py schedules change --help")
    _store(options, screen, lambda values: change.change(schedule, **change.replacing(values)))


def _store(options: Options, screen: Screen, verb: Callable[[dict[str, Any]], Schedule]) -> None:
    with transaction.atomic():
        schedule = verb(_given_values(options))
        show(schedule, screen, stored=not options["dry_run"])
        transaction.set_rollback(options["dry_run"])
    screen.say("Nothing was stored: --dry-run." if options["dry_run"] else f"Stored schedule {schedule.pk}.")


def _given_values(options: Options) -> dict[str, Any]:
    given = {name: options["call" if name == "args" else name] for name in FIELDS}
    return {name: value for name, value in given.items() if value is not inputs.UNSET}


ADD = Subcommand("add", "Add a recurring job; it is due from now on.", NEW, _add)
CHANGE = Subcommand("change", "Change a recurring job; with another rule it is due from now on.", CHANGED, _change)
