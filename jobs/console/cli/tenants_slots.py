"""`manage.py tenants slots`: show and change the limits of tenants. A dispatch follows a change at once.

It is not in `tenants`, which does not know that jobs exist.
"""

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from jobs.console.cli import limits
from jobs.console.cli.screen import Column, Screen, rate
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.limits import OF_TENANT
from jobs.console.operations.named import tenant_named
from jobs.engine.limits import locked_slots
from jobs.reading import counts
from tenants.conf import TENANT_SLUG
from tenants.models import Tenant, TenantQueue
from tenants.tenant_model import all_tenants

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
    limits.add_options(parser, [limit for limit in OF_TENANT if limit.name != "paused"], {"num_slots": "--set"})
    parser.add_argument("--pause", dest="paused", action="store_true", default=limits.UNSET)
    parser.add_argument("--resume", dest="paused", action="store_false", default=limits.UNSET)


def run(options: Options, screen: Screen) -> None:
    changes = limits.given(options, OF_TENANT)
    if options["slug"] is None:
        if changes:
            raise CommandError("slug: name the tenant to change")
        tenants: Iterable[Tenant] = all_tenants().select_related("jobs_queue").order_by(TENANT_SLUG)
    else:
        tenant = tenant_named(options["slug"])
        if changes:
            _change(tenant, changes)
        tenants = [all_tenants().select_related("jobs_queue").get(pk=tenant.pk)]
    shown = _lines(tenants)
    screen.document({"tenants": shown})
    if not shown:
        screen.say("There are no tenants.")
        return
    screen.table(COLUMNS, map(_row, shown))


def _change(tenant: Tenant, changes: dict[str, Any]) -> None:
    with transaction.atomic():
        limits.change(locked_slots(tenant), changes)


def _lines(tenants: Iterable[Tenant]) -> list[dict[str, Any]]:
    holding, waiting = counts.holding("tenant"), counts.waiting("tenant")
    return [
        {"tenant": tenant.jobs_slug, "name": tenant.jobs_name}
        | _settings(getattr(tenant, "jobs_queue", None))
        | {"in_use": holding.get(tenant.pk, 0), "waiting": waiting.get(tenant.pk, 0)}
        for tenant in tenants
    ]


def _settings(slots: TenantQueue | None) -> dict[str, Any]:
    """A tenant without a row has no slots."""
    return {limit.name: getattr(slots, limit.name, None) for limit in OF_TENANT} | (
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
