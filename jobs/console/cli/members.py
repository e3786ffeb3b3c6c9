"""`manage.py members list | add | remove`: the users who see the jobs of a tenant."""

from shlex import quote
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import tenant_named
from tenants.conf import membership
from tenants.models import Member

COLUMNS = [Column("USER", "user", flexible=True), Column("TENANT", "tenant", flexible=True)]
WHO = argument("user", help="The user's login.")


def _list(options: Options, screen: Screen) -> None:
    members = inputs.of_tenant(Member.objects.select_related("user", "tenant").order_by("pk"), options)
    lines = [{"user": member.user.get_username(), "tenant": member.tenant.jobs_slug} for member in members]
    screen.document({"members": lines})
    screen.table(COLUMNS, lines, none="There are no members.")


def _add(options: Options, screen: Screen) -> None:
    if membership():
        raise CommandError("members: JOBS_MEMBERSHIP decides whose member a user is; this table is not read")
    user, tenant = _user(options["user"]), tenant_named(options["tenant"])
    member, is_new = Member.objects.get_or_create(user=user, defaults={"tenant": tenant})
    if not is_new and member.tenant_id != tenant.pk:
        first = f"manage.py members remove {quote(options['user'])}"
        raise CommandError(f"user: {options['user']} already belongs to {member.tenant.jobs_slug}; first: {first}")
    screen.document({"user": options["user"], "tenant": tenant.jobs_slug})
    screen.say(f"{options['user']} is a member of {tenant.jobs_slug}.")


def _remove(options: Options, screen: Screen) -> None:
    for member in Member.objects.filter(user=_user(options["user"])):
        member.delete()
        screen.document({"user": options["user"], "tenant": None})
        screen.say(f"{options['user']} is a member of no tenant.")
        return
    raise CommandError(f"user: {options['user']} is a member of no tenant")


def _user(login: str) -> Any:
    users: Any = get_user_model()
    try:
        return users._default_manager.get_by_natural_key(login)
    except users.DoesNotExist:
        raise CommandError(
            f"user: there is no {login!r}; add one in the admin, or: manage.py createsuperuser"
        ) from None


WHOSE = argument("tenant", metavar="slug", help="The tenant.")
LIST = Subcommand("list", "Show who is a member of which tenant.", (inputs.TENANT,), _list)
ADD = Subcommand("add", "Let a user see the jobs of a tenant.", (WHO, WHOSE), _add)
REMOVE = Subcommand("remove", "Remove a user from the tenant: the user sees no jobs any more.", (WHO,), _remove)
