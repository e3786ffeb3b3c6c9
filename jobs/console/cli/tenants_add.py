"""`manage.py tenants add`: a tenant with its slots, in a project without a tenant model of its own."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from jobs.console.cli import limits
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.limits import OF_TENANT
from jobs.engine.limits import locked_slots
from tenants.mirror import mirrored_model
from tenants.models import Tenant

LIMITS = [limit for limit in OF_TENANT if limit.name != "paused"]


def arguments(parser: CommandParser) -> None:
    parser.add_argument("slug", help="Its name in addresses and commands, such as acme.")
    parser.add_argument("name", help='Its name for people, such as "Acme & Co.".')
    limits.add_options(parser, LIMITS, {"num_slots": "--set"})


def run(options: Options, screen: Screen) -> None:
    if Tenant._meta.swapped or mirrored_model() is not None:
        raise CommandError("tenants: this project has a tenant model of its own: make a row of that")
    with transaction.atomic():
        tenant = _stored(Tenant(slug=options["slug"], name=options["name"]))
        given: dict[str, Any] = {"num_slots": 1, **limits.given(options, LIMITS)}
        limits.change(locked_slots(tenant), given)
    screen.document({"tenant": tenant.slug, "name": tenant.name, **given})
    screen.say(f"Added tenant {tenant.slug} with {given['num_slots']} slots.")


def _stored(tenant: Tenant) -> Tenant:
    try:
        tenant.full_clean()
    except ValidationError as error:
        told = (f"{field}: {' '.join(messages)}" for field, messages in error.message_dict.items())
        raise CommandError("; ".join(told)) from None
    tenant.save()
    return tenant


ADD = Subcommand("add", "Add a tenant, with one slot or as many as --set says.", arguments, run)
