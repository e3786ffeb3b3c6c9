"""`manage.py tenants slots`: show and change the limits of tenants. A dispatch follows a change at once.

It is not in `tenants`, which does not know that jobs exist.
"""

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from jobs.console.cli import inputs, limits
from jobs.console.cli.screen import Column, Screen, rate
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.engine.limits import locked_slots
from jobs.reading import counts
from tenants.bounds import MOST_DAYS, MOST_SLOTS
from tenants.models import Tenant, TenantQueue
from tenants.tenant_model import all_tenants

SETTINGS = (
    *("num_slots", "user_slots", "weight", "max_waiting", "history_days", "rate_limit", "rate_window", "queues"),
    "paused",
)
COLUMNS = [
    Column("TENANT", flexible=True),
    Column("NAME", wide=True, flexible=True),
    Column("SLOTS", right=True),
    Column("IN USE", right=True),
    Column("WAITING", right=True),
    Column("AT MOST", right=True, wide=True),
    Column("PER USER", right=True),
    Column("WEIGHT", right=True),
    Column("RATE", right=True),
    Column("STATE"),
]


def arguments(parser: CommandParser) -> None:
    parser.add_argument("slug", nargs="?", help="The tenant. Default: all tenants.")
    parser.add_argument(
        "--set",
        dest="num_slots",
        type=inputs.whole(0, MOST_SLOTS),
        metavar="N",
        help="The number of slots; 0 pauses the tenant.",
    )
    unset: Any = ...  # "none" is a value
    parser.add_argument(
        "--user-slots",
        type=inputs.whole_or_none(0),
        default=unset,
        metavar="N",
        help='The most slots of one user, or "none".',
    )
    parser.add_argument(
        "--weight", type=inputs.whole(1), metavar="N", help="The share of the workers; 2 gets twice as much as 1."
    )
    parser.add_argument(
        "--rate", type=inputs.rate, metavar="JOBS/SECONDS", help='The most jobs started per window, or "none".'
    )
    parser.add_argument(
        "--max-waiting",
        type=inputs.whole_or_none(0),
        default=unset,
        metavar="N",
        help='The most jobs that may wait, or "none" for JOBS_MAX_WAITING.',
    )
    parser.add_argument(
        "--history-days",
        type=inputs.whole_or_none(1, MOST_DAYS),
        default=unset,
        metavar="N",
        help='Days that its ended jobs are kept, or "none" for JOBS_HISTORY_KEEP.',
    )
    parser.add_argument(
        "--queues",
        type=inputs.names,
        metavar="A,B",
        help='Queues that the tenant may name over HTTP besides a job\'s own, or "none".',
    )
    parser.add_argument("--pause", dest="paused", action="store_true", default=None)
    parser.add_argument("--resume", dest="paused", action="store_false", default=None)


def run(options: Options, screen: Screen) -> None:
    changes = _changes(options)
    if options["slug"] is None:
        if changes:
            raise CommandError("slug: name the tenant to change")
        tenants: Iterable[Tenant] = all_tenants().select_related("queue").order_by("slug")
    else:
        tenant = inputs.tenant_named(options["slug"])
        if changes:
            _change(tenant, changes)
        tenants = [all_tenants().select_related("queue").get(pk=tenant.pk)]
    shown = _lines(tenants)
    screen.document({"tenants": shown})
    if not shown:
        screen.say("There are no tenants.")
        return
    screen.table(COLUMNS, map(_row, shown))


def _changes(options: Options) -> dict[str, Any]:
    changes = {name: options[name] for name in ("num_slots", "weight", "queues", "paused") if options[name] is not None}
    changes |= {
        name: options[name] for name in ("user_slots", "max_waiting", "history_days") if options[name] is not ...
    }
    if options["rate"] is not None:
        changes["rate_limit"], changes["rate_window"] = options["rate"]
    return changes


def _change(tenant: Tenant, changes: dict[str, Any]) -> None:
    with transaction.atomic():
        limits.change(locked_slots(tenant), changes)


def _lines(tenants: Iterable[Tenant]) -> list[dict[str, Any]]:
    holding, waiting = counts.holding("tenant"), counts.waiting("tenant")
    return [
        {"tenant": tenant.slug, "name": tenant.name}
        | _settings(getattr(tenant, "queue", None))
        | {"in_use": holding.get(tenant.pk, 0), "waiting": waiting.get(tenant.pk, 0)}
        for tenant in tenants
    ]


def _settings(slots: TenantQueue | None) -> dict[str, Any]:
    """A tenant without a row has no slots."""
    return {name: getattr(slots, name, None) for name in SETTINGS} | (
        {} if slots else {"num_slots": 0, "paused": False}
    )


def _row(line: dict[str, Any]) -> list[object]:
    return [
        line["tenant"],
        line["name"],
        line["num_slots"],
        line["in_use"],
        f"{line['waiting']:,}",
        None if line["max_waiting"] is None else f"{line['max_waiting']:,}",
        line["user_slots"],
        line["weight"],
        rate(line["rate_limit"], line["rate_window"]),
        _state(line),
    ]


def _state(line: dict[str, Any]) -> str:
    if line["paused"]:
        return "paused"
    if not line["num_slots"]:
        return "no slots"
    return "full" if line["waiting"] and line["in_use"] >= line["num_slots"] else "open"


SLOTS = Subcommand("slots", "Show the slots of all tenants and their use, or change those of one.", arguments, run)
