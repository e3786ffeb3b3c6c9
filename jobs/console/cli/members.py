"""`manage.py members list | add | remove`: the users who see the jobs of a tenant."""

from django.core.management.base import CommandError

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.access import add_member, user_named
from tenants.models import Member

COLUMNS = [Column("USER", "user", flexible=True), Column("TENANT", "tenant", flexible=True)]
WHO = argument("user", help="The user's login.")


def _list(options: Options, screen: Screen) -> None:
    members = inputs.of_tenant(Member.objects.select_related("user", "tenant").order_by("pk"), options)
    lines = [{"user": member.user.get_username(), "tenant": member.tenant.jobs_slug} for member in members]
    screen.document({"members": lines})
    screen.table(COLUMNS, lines, none="There are no members.")


def _add(options: Options, screen: Screen) -> None:
    slug = add_member(options["tenant"], options["user"]).tenant.jobs_slug
    screen.document({"user": options["user"], "tenant": slug})
    screen.say(f"{options['user']} is a member of {slug}.")


def _remove(options: Options, screen: Screen) -> None:
    for member in Member.objects.filter(user=user_named(options["user"])):
        member.delete()
        screen.document({"user": options["user"], "tenant": None})
        screen.say(f"{options['user']} is a member of no tenant.")
        return
    raise CommandError(f"user: {options['user']} is a member of no tenant")


WHOSE = argument("tenant", metavar="slug", help="The tenant.")
LIST = Subcommand("list", "Show who is a member of which tenant.", (inputs.TENANT,), _list)
ADD = Subcommand("add", "Let a user see the jobs of a tenant.", (WHO, WHOSE), _add)
REMOVE = Subcommand("remove", "Remove a user from the tenant: the user sees no jobs any more.", (WHO,), _remove)
