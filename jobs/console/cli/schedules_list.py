"""`manage.py schedules list`; and how one schedule is shown."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen, length, moment, utc
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import tenant_named
from jobs.models import Schedule
from jobs.reading import listing, schedule_view
from tenants.conf import TENANT_SLUG

MAX_LISTED = 1000
COLUMNS = [
    Column("ID", right=True),
    Column("TENANT", flexible=True),
    Column("NAME", flexible=True),
    Column("DUE", flexible=True),
    Column("CALL", wide=True, flexible=True, tail=True),
    Column("NEXT (UTC)"),
    Column("STATE"),
]
FIELDS = (
    *("id", "name", "declared", "by_tenant", "source_type", "source_id", "source_method", "args", "queue", "priority"),
    *("every", "cron", "tz", "jitter", "starts_at", "ends_at", "catch_up", "overlap", "paused", "paused_because"),
    *("next_due", "next_at", "last_job_id"),
)


def arguments(parser: CommandParser) -> None:
    parser.add_argument("--tenant", metavar="SLUG", help="Only this tenant's.")
    parser.add_argument("--paused", action="store_true", help="Only what is paused.")
    parser.add_argument(
        "--limit", type=inputs.whole(1, MAX_LISTED), default=50, metavar="N", help="At most so many; 50."
    )


def run(options: Options, screen: Screen) -> None:
    found = Schedule.objects.select_related("tenant").order_by(f"tenant__{TENANT_SLUG}", "name")
    # A default: `schedules` alone is `list`, whose options it does not have.
    if options.get("tenant"):
        found = found.filter(tenant=tenant_named(options["tenant"]))
    if options.get("paused"):
        found = found.filter(paused=True)
    limit = options.get("limit", 50)
    schedules = list(found[: limit + 1])  # one more, to know whether there is another
    more = len(schedules) > limit
    del schedules[limit:]
    screen.document({"schedules": [document(schedule) for schedule in schedules], "more": more})
    if not schedules:
        screen.say("There are no such schedules.")
        return
    screen.table(COLUMNS, map(_row, schedules))
    if more:
        screen.say(f"There are more than {limit:,}: see --tenant, --paused and --limit.")


def show(schedule: Schedule, screen: Screen, *, stored: bool = True) -> None:
    """One schedule: what it calls, when it is due, in words and with its next times. stored: it has an id."""
    number = schedule.pk if stored else None
    screen.document(document(schedule) | {"id": number, "next_times": schedule_view.next_times(schedule)})
    times = [utc(due) for due in schedule_view.next_times(schedule)]
    screen.facts(
        {
            "id": number,
            "tenant": schedule.tenant.jobs_slug,
            "name": schedule.name,
            "calls": listing.call(schedule),
            "due": schedule_view.in_words(schedule),
            "next times": "\n".join(filter(None, times)),
            "jitter": f"{schedule.jitter:g}s" if schedule.jitter else None,
            "starts": utc(schedule.starts_at) if schedule.starts_at > timezone.now() else None,
            "ends": utc(schedule.ends_at),
            "state": state(schedule),
            "because": schedule.paused_because,
        }
    )


def document(schedule: Schedule) -> dict[str, Any]:
    """As JSON has it."""
    more = {"in_words": schedule_view.in_words(schedule), "late_seconds": schedule_view.late(schedule)}
    return {name: getattr(schedule, name) for name in FIELDS} | {"tenant": schedule.tenant.jobs_slug} | more


def state(schedule: Schedule) -> str:
    """paused, ended, on, or late and by how long."""
    found = schedule_view.state_of(schedule)
    if found == "late" and schedule.next_at is not None:
        return f"late {length(timezone.now() - schedule.next_at)}"
    return found.removesuffix(" itself")  # a fact of its own tells why


def on_one(verb: Callable[[Schedule, Options, Screen], None]) -> Callable[[Options, Screen], None]:
    """Run the verb on the schedule that is named by id, of that tenant if one is. It raises CommandError."""

    def run(options: Options, screen: Screen) -> None:
        found = Schedule.objects.select_related("tenant").filter(pk=options["id"])
        if options["tenant"]:
            found = found.filter(tenant=tenant_named(options["tenant"]))
        try:
            verb(found.get(), options, screen)
        except Schedule.DoesNotExist:  # or somebody has deleted it since
            whose = f" of {options['tenant']}" if options["tenant"] else ""
            message = f"id: there is no schedule {options['id']}{whose}; see: manage.py schedules list"
            raise CommandError(message) from None

    return run


def _row(schedule: Schedule) -> list[object]:
    return [
        schedule.pk,
        schedule.tenant.jobs_slug,
        schedule.name,
        schedule_view.in_words(schedule),
        listing.call(schedule),
        moment(schedule.next_at),
        state(schedule),
    ]


LIST = Subcommand("list", "Show the recurring jobs, by tenant and name.", arguments, run)
