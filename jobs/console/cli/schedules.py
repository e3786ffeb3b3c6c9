"""`manage.py schedules list | show | pause | resume | delete | run-now`."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from jobs.calls.refusals import TooManyWaiting
from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen, length, utc
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.engine.schedules import change
from jobs.models import Schedule
from jobs.reading import listing, schedule_view
from tenants.conf import TENANT_SLUG

FIELDS = (
    *("id", "name", "declared", "by_tenant", "source_type", "source_id", "source_method", "args", "queue", "priority"),
    *("every", "cron", "tz", "jitter", "starts_at", "ends_at", "catch_up", "overlap", "paused", "paused_because"),
    *("undeclared_at", "next_due", "next_at", "last_job_id"),
)


def _state(schedule: Schedule) -> str:
    """Return the state in a word: paused, ended, on; or late and by how long."""
    state = schedule_view.state_of(schedule)
    if state == "late" and schedule.next_at is not None:
        return f"late {length(timezone.now() - schedule.next_at)}"
    return state.removesuffix(" itself")  # another fact has the reason


COLUMNS = [
    Column("ID", "id", right=True),
    Column("TENANT", "tenant.jobs_slug", flexible=True),
    Column("NAME", "name", flexible=True),
    Column("DUE", schedule_view.in_words, flexible=True),
    Column("CALL", listing.call, wide=True, flexible=True, tail=True),
    Column("NEXT (UTC)", "next_at"),
    Column("STATE", _state),
]


def _list(options: Options, screen: Screen) -> None:
    matching = inputs.of_tenant(Schedule.objects.select_related("tenant"), options)
    if options["paused"]:
        matching = matching.filter(paused=True)
    schedules, more = inputs.first(matching.order_by(f"tenant__{TENANT_SLUG}", "name"), options)
    screen.document({"schedules": [_document(schedule) for schedule in schedules], "more": more})
    screen.table(COLUMNS, schedules, none="There are no such schedules.")
    if more:
        screen.say(f"There are more than {options['limit']:,}: see --tenant, --paused and --limit.")


def show(schedule: Schedule, screen: Screen, *, stored: bool = True) -> None:
    """Print a schedule: what it calls, when it is due in words, and its next times.

    stored: whether it stays stored, so that its id is printed
    """
    number = schedule.pk if stored else None
    screen.document(_document(schedule) | {"id": number, "next_times": schedule_view.next_times(schedule)})
    times = [utc(due) for due in schedule_view.next_times(schedule)]
    screen.facts(
        {
            "id": number,
            "tenant": schedule.tenant.jobs_slug,
            "name": schedule.name,
            "calls": listing.call(schedule),
            "due": schedule_view.in_words(schedule),
            "next times": "\n".join(filter(None, times)),
            "jitter": f"{schedule.jitter:.15g}s" if schedule.jitter else None,
            "starts": schedule.starts_at if schedule.starts_at > timezone.now() else None,
            "ends": schedule.ends_at,
            "state": _state(schedule),
            "undeclared since": schedule.undeclared_at,
            "because": schedule.paused_because,
        }
    )


def _document(schedule: Schedule) -> dict[str, Any]:
    more = {"in_words": schedule_view.in_words(schedule), "late_seconds": schedule_view.late(schedule)}
    return {name: getattr(schedule, name) for name in FIELDS} | {"tenant": schedule.tenant.jobs_slug} | more


def on_one(verb: Callable[[Schedule, Options, Screen], None]) -> Callable[[Options, Screen], None]:
    """Return a command that runs the verb on the schedule with the given id, and of the tenant if one is given.

    It raises CommandError if there is none.
    """

    def run(options: Options, screen: Screen) -> None:
        matching = inputs.of_tenant(Schedule.objects.select_related("tenant"), options)
        try:
            verb(matching.get(pk=options["id"]), options, screen)
        except Schedule.DoesNotExist:  # also if another user has deleted it meanwhile
            owner = f" of {options['tenant']}" if options["tenant"] else ""
            message = f"id: there is no schedule {options['id']}{owner}; see: manage.py schedules list"
            raise CommandError(message) from None

    return run


def _showing(verb: Callable[[Schedule], Schedule]) -> Callable[[Options, Screen], None]:
    """Return a command that runs the verb on a schedule, and shows the schedule after it."""
    return on_one(lambda schedule, options, screen: show(verb(schedule), screen))


@on_one
def _delete(schedule: Schedule, options: Options, screen: Screen) -> None:
    if schedule.is_of_the_code:
        raise CommandError("id: the code declares this schedule: delete it in the code, or pause it here")
    pk, name = schedule.pk, schedule.name
    change.delete(schedule)
    screen.document({"id": pk, "deleted": True})
    screen.say(f"Deleted schedule {pk}, {name!r}; its jobs stay.")


@on_one
def _run_now(schedule: Schedule, options: Options, screen: Screen) -> None:
    try:
        job_id = change.run_now(schedule)
    except TooManyWaiting as full:
        raise inputs.backlog_is_full(full, schedule.tenant.jobs_slug) from None
    screen.document({"id": schedule.pk, "job_id": job_id})
    screen.say(f"Submitted job {job_id}.")


LISTED = (inputs.TENANT, argument("--paused", action="store_true", help="Only paused ones."), inputs.limit(50))
WHICH = (argument("id", type=inputs.job_id, help="The id, as `schedules list` shows it."), inputs.TENANT)
LIST = Subcommand("list", "Show the recurring jobs, by tenant and name.", LISTED, _list)
SHOW = Subcommand(
    "show",
    "Show a schedule: what it calls, when it is due, its next times.",
    WHICH,
    _showing(lambda schedule: schedule),
)
PAUSE = Subcommand("pause", "Pause a schedule: nothing is due until it is resumed.", WHICH, _showing(change.pause))
RESUME = Subcommand("resume", "Resume a schedule: it is due again from now on.", WHICH, _showing(change.resume))
DELETE = Subcommand("delete", "Delete a schedule, and the list of its runs; its jobs stay.", WHICH, _delete)
RUN_NOW = Subcommand("run-now", "Submit one extra job of a schedule now.", WHICH, _run_now)
