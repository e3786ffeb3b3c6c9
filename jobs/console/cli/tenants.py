"""`manage.py tenants slots | add | mirror`: the limits of tenants, and the tenants themselves.

A dispatch follows a change at once. This module is not in `tenants`, which does not know that jobs exist.
"""

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from jobs.console.cli import inputs, limits
from jobs.console.cli.screen import Column, Screen, count, rate
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.limits import OF_TENANT
from jobs.console.operations.named import tenant_named
from jobs.engine.verbs.limits import locked_slots
from jobs.reading import present
from plumbing.text import about
from tenants.by_name import as_text
from tenants.conf import TENANT_SLUG
from tenants.mirror import mirrored_model, owns_tenants, reflect
from tenants.models import Tenant, TenantQueue
from tenants.tenant_model import all_tenants

LIMITS = [limit for limit in OF_TENANT if limit.name not in ("paused", "budgets")]  # budgets: a command of their own


COLUMNS = [
    Column("TENANT", "tenant", flexible=True),
    Column("NAME", "name", wide=True, flexible=True),
    Column("SLOTS", "num_slots", right=True),
    Column("BURST", "burst_slots", right=True),
    Column("IN USE", "in_use", right=True),
    Column("WAITING", lambda line: about(line["waiting"], line["waiting_about"]), right=True),
    Column("AT MOST", lambda line: count(line["max_waiting"]), right=True, wide=True),
    Column("PER USER", "user_slots", right=True),
    Column("IN QUEUES", lambda line: as_text(line["queue_slots"] or {}), wide=True, flexible=True),
    Column("WEIGHT", "weight", right=True),
    Column("RATE", lambda line: rate(line["rate_limit"], line["rate_window"]), right=True),
    Column("STATE", "state"),
]


def _slots(options: Options, screen: Screen) -> None:
    changes = limits.given(options, OF_TENANT)
    if options["slug"] is None:
        if changes:
            raise CommandError("slug: name the tenant to change")
        tenants: Iterable[Tenant] = all_tenants().select_related("jobs_queue").order_by(TENANT_SLUG)
    else:
        tenant = tenant_named(options["slug"])
        if changes:
            change_limits(tenant, changes)
        tenants = [all_tenants().select_related("jobs_queue").get(pk=tenant.pk)]
    lines = _lines(tenants)
    screen.document({"tenants": lines})
    screen.table(COLUMNS, lines, none="There are no tenants.")


def change_limits(tenant: Tenant, changes: dict[str, Any]) -> None:
    """Change these limits of a tenant. Raises CommandError, which names the invalid fields."""
    with transaction.atomic():
        limits.change(locked_slots(tenant), changes)


def _lines(tenants: Iterable[Tenant]) -> list[dict[str, Any]]:
    listed = {tenant.pk: tenant for tenant in tenants}
    now = present.tenants(listed)
    return [
        {"tenant": tenant.jobs_slug, "name": tenant.jobs_name}
        | _settings(getattr(tenant, "jobs_queue", None))
        | now[pk].numbers
        for pk, tenant in listed.items()
        if pk in now  # a tenant that was deleted meanwhile is not
    ]


def _settings(slots: TenantQueue | None) -> dict[str, Any]:
    """Return the limits of a tenant by name. A tenant without a row has no slots."""
    return {limit.name: getattr(slots, limit.name, None) for limit in OF_TENANT} | (
        {} if slots else {"num_slots": 0, "paused": False}
    )


def _add(options: Options, screen: Screen) -> None:
    if not owns_tenants():
        raise CommandError("tenants: this project has a tenant model of its own: add a row to that")
    tenant = Tenant(slug=options["slug"], name=options["name"])
    given: dict[str, Any] = {"num_slots": 1, **limits.given(options, LIMITS)}
    with transaction.atomic():
        with limits.naming_fields():
            tenant.full_clean()
        tenant.save()
        change_limits(tenant, given)
    screen.document({"tenant": tenant.slug, "name": tenant.name, **given})
    slots = given["num_slots"]
    screen.say(f"Added tenant {tenant.slug} with {slots} slot{'' if slots == 1 else 's'}.")


def _mirror(options: Options, screen: Screen) -> None:
    model = mirrored_model()
    if model is None:
        raise CommandError(
            'JOBS_TENANT_MIRROR is not set. Set it to the model whose rows are your tenants: "app.Model".'
        )
    number = reflect(model._default_manager.iterator(chunk_size=1000))
    screen.document({"mirrored": number})
    screen.say(f"Wrote a tenant for each of {number:,} rows of {model._meta.label}.")


OPTIONS = limits.options(LIMITS, {"num_slots": "--set", "queue_slots": "--queue"})
NEW = (
    argument("slug", help="Its name in addresses and commands, such as acme."),
    argument("name", help='Its name for people, such as "Acme & Co.".'),
    *OPTIONS,
)
CHANGED = (
    argument("slug", nargs="?", help="The tenant. Default: all tenants."),
    *OPTIONS,
    argument("--pause", dest="paused", action="store_true", default=inputs.UNSET),
    argument("--resume", dest="paused", action="store_false", default=inputs.UNSET),
)
SLOTS = Subcommand("slots", "Show the slots of all tenants and their use, or change the slots of one.", CHANGED, _slots)
ADD = Subcommand("add", "Add a tenant, with one slot or as many as --set says.", NEW, _add)
MIRROR = Subcommand("mirror", "Write a tenant for each row of the model in JOBS_TENANT_MIRROR.", (), _mirror)
