"""`manage.py webhooks list | add | remove | switch-on`: where tenants' own systems are told how jobs ended."""

from django.core.management.base import CommandError, CommandParser

from jobs.console.cli.screen import Column, Screen, moment
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import tenant_named
from jobs.engine.webhooks import endpoints
from jobs.models import WebhookEndpoint

COLUMNS = [
    Column("ID", right=True),
    Column("TENANT", flexible=True),
    Column("URL", flexible=True),
    Column("TYPES", flexible=True, wide=True),
    Column("BATCHES", flexible=True, wide=True),
    Column("FAILING SINCE (UTC)", wide=True),
    Column("STATE"),
    Column("LAST ERROR", flexible=True),
]


def _which(parser: CommandParser) -> None:
    parser.add_argument("--tenant", metavar="SLUG", help="Only of this tenant.")


def _new(parser: CommandParser) -> None:
    parser.add_argument("tenant", metavar="slug", help="The tenant whose jobs it is told of.")
    parser.add_argument("url", help="https, of the public internet.")
    parser.add_argument(
        "--type", action="append", default=[], help="Only this: reports.datareport.execute. Repeatable."
    )
    parser.add_argument("--batch", action="append", default=[], help="Only jobs of batches of this name. Repeatable.")


def _one(parser: CommandParser) -> None:
    parser.add_argument("id", type=int, help="As `webhooks list` shows it.")


def _list(options: Options, screen: Screen) -> None:
    found = WebhookEndpoint.objects.select_related("tenant").order_by("pk")
    if options.get("tenant"):
        found = found.filter(tenant=tenant_named(options["tenant"]))
    lines = [
        {
            "id": one.pk,
            "tenant": one.tenant.jobs_slug,
            "url": one.url,
            "types": one.types,
            "batches": one.batches,
            "failing_since": one.failing_since,
            "off_at": one.off_at,
            "last_error": one.last_error,
        }
        for one in found
    ]
    screen.document({"webhooks": lines})
    if not lines:
        screen.say("There are no webhooks.")
        return
    screen.table(COLUMNS, [_row(one) for one in found])


def _row(one: WebhookEndpoint) -> list[object]:
    state = "off" if one.off_at else "failing" if one.failing_since else "on"
    told = [", ".join(names) or "all" for names in (one.types, one.batches)]
    return [one.pk, one.tenant.jobs_slug, one.url, *told, moment(one.failing_since), state, one.last_error]


def _add(options: Options, screen: Screen) -> None:
    made, secret = endpoints.add(tenant_named(options["tenant"]), options["url"], options["type"], options["batch"])
    screen.document({"id": made.pk, "secret": secret})
    screen.say(f"Webhook {made.pk} is told of jobs that are submitted from now on. Its secret is shown only now:")
    screen.say(secret)


def _remove(options: Options, screen: Screen) -> None:
    endpoints.remove(_endpoint(options["id"]))
    screen.document({"removed": options["id"]})
    screen.say(f"Webhook {options['id']} is removed.")


def _switch_on(options: Options, screen: Screen) -> None:
    endpoints.switch_on(_endpoint(options["id"]))
    screen.document({"on": options["id"]})
    screen.say(f"Webhook {options['id']} is on.")


def _endpoint(pk: int) -> WebhookEndpoint:
    found = WebhookEndpoint.objects.filter(pk=pk).first() if 0 < pk < 2**63 else None
    if found is None:
        raise CommandError(f"id: there is no webhook {pk}")
    return found


LIST = Subcommand("list", "Show the webhooks of all tenants, and whether they work.", _which, _list)
ADD = Subcommand("add", "Add one, and print its secret.", _new, _add)
REMOVE = Subcommand("remove", "Send nothing more to one.", _one, _remove)
SWITCH_ON = Subcommand("switch-on", "Send again to one that was switched off.", _one, _switch_on)
