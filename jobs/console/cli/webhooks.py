"""`manage.py webhooks list | add | remove | switch-on`: where tenants' own systems are told how jobs ended."""

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import tenant_named
from jobs.engine.webhooks import endpoints
from jobs.models import WebhookEndpoint

FIELDS = ("id", "url", "types", "batches", "failing_since", "off_at", "last_error")
COLUMNS = [
    Column("ID", "id", right=True),
    Column("TENANT", "tenant.jobs_slug", flexible=True),
    Column("URL", "url", flexible=True),
    Column("TYPES", lambda one: ", ".join(one.types) or "all", flexible=True, wide=True),
    Column("BATCHES", lambda one: ", ".join(one.batches) or "all", flexible=True, wide=True),
    Column("FAILING SINCE (UTC)", "failing_since", wide=True),
    Column("STATE", lambda one: "off" if one.off_at else "failing" if one.failing_since else "on"),
    Column("LAST ERROR", "last_error", flexible=True),
]


def _list(options: Options, screen: Screen) -> None:
    found = list(inputs.of_tenant(WebhookEndpoint.objects.select_related("tenant").order_by("pk"), options))
    lines = [{name: getattr(one, name) for name in FIELDS} | {"tenant": one.tenant.jobs_slug} for one in found]
    screen.document({"webhooks": lines})
    screen.table(COLUMNS, found, none="There are no webhooks.")


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
    return inputs.existing(WebhookEndpoint.objects.filter(pk=pk).first(), f"id: there is no webhook {pk}")


NEW = (
    argument("tenant", metavar="slug", help="The tenant whose jobs it is told about."),
    argument("url", help="An https address on the public internet."),
    argument("--type", action="append", default=[], help="Only this job type: reports.datareport.execute. Repeatable."),
    argument("--batch", action="append", default=[], help="Only jobs of batches of this name. Repeatable."),
)
WHICH = argument("id", type=int, help="As `webhooks list` shows it.")
LIST = Subcommand("list", "Show the webhooks of all tenants, and whether they work.", (inputs.TENANT,), _list)
ADD = Subcommand("add", "Add one, and print its secret.", NEW, _add)
REMOVE = Subcommand("remove", "Send nothing more to one.", (WHICH,), _remove)
SWITCH_ON = Subcommand("switch-on", "Send again to one that was switched off.", (WHICH,), _switch_on)
