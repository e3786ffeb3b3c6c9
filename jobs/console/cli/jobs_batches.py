"""`manage.py jobs batches`: the newest batches, and how far each is."""

from jobs import store
from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import tenant_named
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
    tenant_id = tenant_named(options["tenant"]).pk if options["tenant"] else EVERY_TENANT
    found = store.read_batches(tenant_id=tenant_id, most=options["limit"])
    screen.document({"batches": [{name: getattr(one, name) for name in FIELDS} for one in found]})
    screen.table(COLUMNS, found, none="There is no batch.")


ARGUMENTS = (inputs.TENANT, inputs.limit(20))
BATCHES = Subcommand("batches", "Show the newest batches, and how far each is.", ARGUMENTS, run)
