"""`manage.py keys list | add | revoke`: the keys to the API, of tenants."""

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen, moment
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import tenant_named
from tenants import auth
from tenants.models import ApiKey

MAX_NAME = 100  # characters
COLUMNS = [
    Column("PREFIX"),
    Column("TENANT", flexible=True),
    Column("NAME", flexible=True),
    Column("EXPIRES (UTC)", wide=True),
    Column("LAST USED (UTC)", wide=True),
    Column("STATE"),
]


def _which(parser: CommandParser) -> None:
    parser.add_argument("--tenant", metavar="SLUG", help="Only of this tenant.")


def _new(parser: CommandParser) -> None:
    parser.add_argument("tenant", metavar="slug", help="The tenant whose key it is.")
    parser.add_argument("name", help='The program that uses it, e.g. "nightly export".')
    parser.add_argument("--expires", type=inputs.moment, metavar="MOMENT", help="E.g. 2030-01-31T09:00:00+01:00.")


def _one(parser: CommandParser) -> None:
    parser.add_argument("prefix", help="What stands before the dot.")


def _list(options: Options, screen: Screen) -> None:
    found = ApiKey.objects.select_related("tenant").order_by("prefix")
    if options.get("tenant"):
        found = found.filter(tenant=tenant_named(options["tenant"]))
    keys = list(found)
    screen.document(
        {"keys": [{"prefix": one.prefix, "tenant": one.tenant.jobs_slug, "name": one.name} for one in keys]}
    )
    if not keys:
        screen.say("There are no keys.")
        return
    screen.table(COLUMNS, [_row(key) for key in keys])


def _row(key: ApiKey) -> list[object]:
    is_late = key.expires_at is not None and key.expires_at <= timezone.now()
    state = "revoked" if key.revoked_at else "expired" if is_late else "good"
    return [key.prefix, key.tenant.jobs_slug, key.name, moment(key.expires_at), moment(key.last_used_at), state]


def _add(options: Options, screen: Screen) -> None:
    expires = options["expires"]
    if expires is not None and (expires.tzinfo is None or expires <= timezone.now()):
        raise CommandError("--expires: must be in the future, with a time zone")
    if not 0 < len(options["name"]) <= MAX_NAME:
        raise CommandError(f"name: must have 1 to {MAX_NAME} characters")
    key, token = auth.issue(tenant_named(options["tenant"]), options["name"], expires)
    screen.document({"prefix": key.prefix, "token": token})
    screen.say(f"The key is {token}")
    screen.say("Copy it now: it is not stored and cannot be shown again.")


def _revoke(options: Options, screen: Screen) -> None:
    key = ApiKey.objects.filter(prefix=options["prefix"]).first()
    if key is None:
        raise CommandError(f"prefix: there is no key {options['prefix']!r}")
    auth.revoke(key)
    screen.document({"prefix": key.prefix, "revoked": True})
    screen.say(f"Key {key.prefix} is refused from now on.")


LIST = Subcommand("list", "Show the keys, without their secrets.", _which, _list)
ADD = Subcommand("add", "Issue a key, and show it once.", _new, _add)
REVOKE = Subcommand("revoke", "Refuse a key from now on.", _one, _revoke)
