"""`manage.py jobs batches`: list the newest batches and their progress, or close one that is still open."""

from django.core.management.base import CommandError

from jobs import store
from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import tenant_named
from jobs.engine.verbs.batch_actions import close_batch
from jobs.store import EVERY_TENANT

COUNTS = ("total", "waiting", "running", "success", "error", "dead", "cancelled")
FIELDS = ("id", "name", "tenant_id", "created_at", "closed_at", *COUNTS)
COLUMNS = [
    Column("ID", "id", right=True),
    Column("NAME", "name", flexible=True),
    *(Column(name.upper(), name, right=True) for name in COUNTS),
    Column("MADE (UTC)", "created_at", wide=True),
    Column("CLOSED (UTC)", "closed_at", wide=True),
]


def run(options: Options, screen: Screen) -> None:
    if (closing := options["close"]) is not None:
        if not close_batch(closing, tenant_id=EVERY_TENANT):
            raise CommandError(f"close: there is no open batch {closing}")
        screen.document({"closed": closing})
        screen.say(f"Batch {closing} is closed.")
        return
    tenant_id = tenant_named(options["tenant"]).pk if options["tenant"] else EVERY_TENANT
    batches = store.read_batches(tenant_id=tenant_id, most=options["limit"])
    screen.document({"batches": [{name: getattr(batch, name) for name in FIELDS} for batch in batches]})
    screen.table(COLUMNS, batches, none="There is no batch.")


ARGUMENTS = (
    inputs.TENANT,
    inputs.limit(20),
    argument("--close", metavar="ID", type=inputs.job_id, help="Close this batch, which is still open."),
)
BATCHES = Subcommand("batches", "Show the newest batches and their progress, or close one.", ARGUMENTS, run)
