"""`manage.py webhooks`: the addresses of tenants to which the scheduler posts how jobs ended."""

from collections.abc import Callable

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import tenant_named
from jobs.engine.webhooks import endpoints
from jobs.models import WebhookEndpoint
from jobs.reading.webhooks import standings

COLUMNS = [
    Column("ID", "endpoint.id", right=True),
    Column("TENANT", "endpoint.tenant.jobs_slug", flexible=True),
    Column("URL", "endpoint.url", flexible=True),
    Column("TYPES", lambda standing: ", ".join(standing.endpoint.types) or "all", flexible=True, wide=True),
    Column("BATCHES", lambda standing: ", ".join(standing.endpoint.batches) or "all", flexible=True, wide=True),
    Column("STATE", lambda standing: standing.state),
    Column("DAY", "counts.delivered", right=True),
    Column("FAILED", "counts.failed", right=True),
    Column("WAITING", "counts.waiting", right=True),
    Column("OLDEST (UTC)", "counts.oldest", wide=True),
    Column("NEXT TRY (UTC)", "endpoint.next_at", wide=True),
    Column("LAST ERROR", "endpoint.last_error", flexible=True),
]


def _list(options: Options, screen: Screen) -> None:
    endpoints = WebhookEndpoint.objects.select_related("tenant").order_by("pk")
    lines = standings(inputs.of_tenant(endpoints, options))
    screen.document({"webhooks": [line.as_document() | {"tenant": line.endpoint.tenant.jobs_slug} for line in lines]})
    screen.table(COLUMNS, lines, none="There are no webhooks.")


def _add(options: Options, screen: Screen) -> None:
    made, secret = endpoints.add(tenant_named(options["tenant"]), options["url"], options["type"], options["batch"])
    screen.document({"id": made.pk, "secret": secret})
    screen.say(f"Webhook {made.pk} gets messages about jobs submitted from now on. Its secret is shown only now:")
    screen.say(secret)


def _does(act: Callable[[WebhookEndpoint], object], done: str, predicate: str) -> Callable[[Options, Screen], None]:
    """Return a command that does something to a webhook.

    done: the key of its id in the document
    predicate: the words after "Webhook 7"
    """

    def command(options: Options, screen: Screen) -> None:
        act(_endpoint(options["id"]))
        screen.document({done: options["id"]})
        screen.say(f"Webhook {options['id']} {predicate}.")

    return command


def _replace_secret(options: Options, screen: Screen) -> None:
    secret = endpoints.replace_secret(_endpoint(options["id"]))
    screen.document({"id": options["id"], "secret": secret})
    screen.say(f"For a day webhook {options['id']} signs with both secrets. The new one is shown only now:")
    screen.say(secret)


def _endpoint(pk: int) -> WebhookEndpoint:
    return inputs.existing(WebhookEndpoint.objects.filter(pk=pk).first(), f"id: there is no webhook {pk}")


NEW = (
    argument("tenant", metavar="slug", help="The tenant whose jobs its messages are about."),
    argument("url", help="An https address on the public internet."),
    argument("--type", action="append", default=[], help="Only this job type: reports.datareport.execute. Repeatable."),
    argument("--batch", action="append", default=[], help="Only jobs of batches of this name. Repeatable."),
)
WHICH = (argument("id", type=int, help="The id, as `webhooks list` shows it."),)
REMOVED = _does(endpoints.remove, "removed", "is removed")
OFF = _does(endpoints.switch_off, "off", "is off; its waiting messages are kept for three days")
ON = _does(endpoints.switch_on, "on", "is on")
TRIED = _does(endpoints.try_now, "tried", "will be tried now")
LIST = Subcommand("list", "Show the webhooks of all tenants, and their waiting messages.", (inputs.TENANT,), _list)
SUBCOMMANDS = (
    LIST,
    Subcommand("add", "Add a webhook, and print its secret.", NEW, _add),
    Subcommand("remove", "Remove a webhook: nothing more is sent to it.", WHICH, REMOVED),
    Subcommand("switch-off", "Send nothing to a webhook until it is switched on.", WHICH, OFF),
    Subcommand("switch-on", "Send again to a webhook that was switched off.", WHICH, ON),
    Subcommand("try-now", "Send the waiting messages of a webhook now, and not at its next try.", WHICH, TRIED),
    Subcommand("replace-secret", "Give a webhook a new secret, and print it.", WHICH, _replace_secret),
)
