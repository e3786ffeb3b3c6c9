"""`manage.py jobs batches`: the newest batches, and how far each is."""

from django.core.management.base import CommandParser

from jobs import store
from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen, moment
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import tenant_named
from jobs.store import EVERY_TENANT

COUNTS = ("total", "waiting", "running", "success", "error", "dead", "cancelled")
COLUMNS = [
    Column("ID", right=True),
    Column("NAME", flexible=True),
    *(Column(name.upper(), right=True) for name in COUNTS),
    Column("MADE (UTC)", wide=True),
    Column("CLOSED (UTC)", wide=True),
]


def arguments(parser: CommandParser) -> None:
    parser.add_argument("--tenant", metavar="SLUG", help="Only batches of this tenant.")
    parser.add_argument("--limit", type=inputs.whole(1, 1000), default=20, metavar="N", help="Default: 20.")


def run(options: Options, screen: Screen) -> None:
    tenant_id = tenant_named(options["tenant"]).pk if options["tenant"] else EVERY_TENANT
    found = store.read_batches(tenant_id=tenant_id, most=options["limit"])
    same = ("id", "name", "tenant_id", "created_at", "closed_at", *COUNTS)
    screen.document({"batches": [{name: getattr(one, name) for name in same} for one in found]})
    if not found:
        screen.say("There is no batch.")
        return
    counts = [[getattr(one, name) for name in COUNTS] for one in found]
    screen.table(
        COLUMNS,
        [
            [one.id, one.name, *numbers, moment(one.created_at), moment(one.closed_at)]
            for one, numbers in zip(found, counts, strict=True)
        ],
    )


BATCHES = Subcommand("batches", "Show the newest batches, and how far each is.", arguments, run)
