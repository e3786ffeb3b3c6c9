"""`manage.py audit list | export | mark`: list the latest changes; write the whole log to stdout; mark this moment."""

import json
from collections.abc import Iterator
from datetime import datetime
from functools import partial

from django.core.management.base import CommandError
from django.core.serializers.json import DjangoJSONEncoder

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations import audited
from jobs.console.operations.filters import MOMENTS
from jobs.engine.verbs.mark import mark
from plumbing import sheet
from plumbing.text import in_one_line, printable
from tenants.models import Change

OF_A_LINE = 10  # entries that are read for a line: a bulk action has one for each tenant, and is one line
BATCH = 1000  # changes that the export reads at a time
FILTERS = (
    argument("--since", metavar="TIME", help=f"Only changes after: {MOMENTS}."),
    argument("--until", metavar="TIME", help="Only changes up to this time."),
    argument("--tenant", metavar="SLUG", help="Only changes to the things of this tenant."),
    argument("--who", metavar="NAME", help="Only changes by this user or program: the exact name."),
)
COLUMNS = [
    Column("AT (UTC)", "at"),
    Column("WHO", "who", flexible=True),
    Column("ADDRESS", "address", wide=True),
    Column("DID", "verb"),
    Column("TO", audited.subject_in_words, flexible=True, tail=True),
    Column("CHANGED", audited.values_in_words, flexible=True),
]


def _list(options: Options, screen: Screen) -> None:
    changes = list(audited.changes(options).order_by("-pk")[: options["limit"] * OF_A_LINE])
    screen.document({"changes": [audited.document(change) for change in changes[: options["limit"]]]})
    screen.table(COLUMNS, audited.folded(changes, options["limit"]), none="No changes match.")


def _export(options: Options, screen: Screen) -> None:
    if options["json"]:
        raise CommandError("--json: use --format jsonl, which has one object a line.")
    line = _csv_line if options["format"] == "csv" else partial(json.dumps, cls=DjangoJSONEncoder)
    if options["format"] == "csv":
        screen.raw(sheet.line(audited.FIELDS))
    for change in _changes(options):
        screen.raw(line(change))


def _mark(options: Options, screen: Screen) -> None:
    for change in mark(options["text"]):
        screen.document({"change": audited.document(change)})
        screen.say(f"Marked in the charts: {printable(change.subject)}.")


def _changes(options: Options) -> Iterator[dict[str, object]]:
    """Read the changes in batches, by primary key: the log may be long, and grows meanwhile."""
    entries, after = audited.changes(options).order_by("pk"), 0
    while batch := list(entries.filter(pk__gt=after)[:BATCH]):
        for change in batch:
            yield audited.document(change) | {"values": change.values | _ids(change)}
        after = batch[-1].pk


def _ids(change: Change) -> dict[str, list[int]]:
    if change.bulk is None:
        return {}
    return {"ids": list(change.subjects.order_by("subject_id").values_list("subject_id", flat=True))}


def _csv_line(change: dict[str, object]) -> str:
    cells = change | {"values": json.dumps(change["values"])}
    values = (cells[name] for name in audited.FIELDS)
    return in_one_line(sheet.line(cell.isoformat() if isinstance(cell, datetime) else cell for cell in values))


TEXT = argument("text", metavar="TEXT", help='What happens now, such as "release 4.2".')
FORMAT = argument("--format", choices=("jsonl", "csv"), default="jsonl", help="Default: jsonl, a JSON object a line.")
LIST = Subcommand("list", "List changes, the latest first.", (*FILTERS, inputs.limit(20)), _list)
WRITE = "Write the audit log to standard output, oldest first."
EXPORT = Subcommand("export", WRITE, (*FILTERS, FORMAT), _export, lines=True)
MARK = Subcommand("mark", "Mark this moment in the charts of the operators, such as a deploy.", (TEXT,), _mark)
