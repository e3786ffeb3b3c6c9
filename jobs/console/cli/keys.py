"""`manage.py keys list | add | revoke`: the keys of tenants to the API."""

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.access import issue_key
from jobs.console.operations.named import tenant_named
from tenants import auth
from tenants.models import ApiKey

COLUMNS = [
    Column("PREFIX", "prefix"),
    Column("TENANT", "tenant.jobs_slug", flexible=True),
    Column("NAME", "name", flexible=True),
    Column("EXPIRES (UTC)", "expires_at", wide=True),
    Column("LAST USED (UTC)", "last_used_at", wide=True),
    Column("STATE", "state"),
]


def _list(options: Options, screen: Screen) -> None:
    keys = list(inputs.of_tenant(ApiKey.objects.select_related("tenant").order_by("prefix"), options))
    screen.document(
        {"keys": [{"prefix": key.prefix, "tenant": key.tenant.jobs_slug, "name": key.name} for key in keys]}
    )
    screen.table(COLUMNS, keys, none="There are no keys.")


def _add(options: Options, screen: Screen) -> None:
    key, token = issue_key(tenant_named(options["tenant"]), options["name"], options["expires"])
    screen.document({"prefix": key.prefix, "token": token})
    screen.say(f"The key is {token}")
    screen.say("Copy it now: it is not stored and cannot be shown again.")


def _revoke(options: Options, screen: Screen) -> None:
    row = ApiKey.objects.filter(prefix=options["prefix"]).first()
    key = inputs.existing(row, f"prefix: there is no key {options['prefix']!r}")
    auth.revoke(key)
    screen.document({"prefix": key.prefix, "revoked": True})
    screen.say(f"Key {key.prefix} is refused from now on.")


NEW = (
    argument("tenant", metavar="slug", help="The tenant that owns the key."),
    argument("name", help='The program that uses it, e.g. "nightly export".'),
    argument(
        "--expires", type=inputs.moment, metavar="MOMENT", help="When it expires, e.g. 2030-01-31T09:00:00+01:00."
    ),
)
WHICH = argument("prefix", help="The part of the key before the dot.")
LIST = Subcommand("list", "Show the keys, without their secrets.", (inputs.TENANT,), _list)
ADD = Subcommand("add", "Issue a key, and show it once.", NEW, _add)
REVOKE = Subcommand("revoke", "Refuse a key from now on.", (WHICH,), _revoke)
