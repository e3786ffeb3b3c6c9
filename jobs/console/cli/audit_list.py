"""`manage.py audit list`: the latest changes, for people."""

from django.core.management.base import CommandParser

from jobs.console.cli import audit_export, inputs
from jobs.console.cli.screen import Column, Screen, moment
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations import audited
from tenants.models import Change

MAX_LISTED = 1000
COLUMNS = [
    Column("AT (UTC)"),
    Column("WHO", flexible=True),
    Column("ADDRESS", wide=True),
    Column("DID"),
    Column("TO", flexible=True, tail=True),
    Column("CHANGED", flexible=True),
]


def arguments(parser: CommandParser) -> None:
    audit_export.add_filters(parser)
    parser.add_argument("--limit", type=inputs.whole(1, MAX_LISTED), default=20, metavar="N", help="Default: 20.")


def run(options: Options, screen: Screen) -> None:
    changes = list(audited.changes(options).order_by("-pk")[: options["limit"]])
    screen.document({"changes": [audited.document(change) for change in changes]})
    if changes:
        screen.table(COLUMNS, map(_row, changes))
    else:
        screen.say("No changes match.")


def _row(change: Change) -> list[object]:
    told = audited.told(change) or None
    return [moment(change.at), change.who, change.address or None, change.verb, change.subject, told]


LIST = Subcommand("list", "List changes, the latest first.", arguments, run)
