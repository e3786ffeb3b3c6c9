"""`manage.py audit export`: write the audit log to stdout, oldest first."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from django.core.management.base import CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from jobs.authoring import sheet
from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import tenant_named
from tenants.models import Change

FIELDS = (
    *("id", "at", "who", "key", "address", "actor_tenant_id", "tenant_id"),
    *("verb", "kind", "subject_id", "subject", "values"),
)
BATCH = 1000


def arguments(parser: CommandParser) -> None:
    parser.add_argument("--since", type=inputs.moment, help="From this moment on, like 2030-01-31 (UTC).")
    parser.add_argument("--until", type=inputs.moment, help="Before this moment.")
    parser.add_argument("--tenant", metavar="SLUG", help="Only changes to what is this tenant's.")
    parser.add_argument("--format", choices=("jsonl", "csv"), default="jsonl")


def run(options: Options, screen: Screen) -> None:
    if options["json"]:
        raise CommandError("--json: use --format jsonl, which has one object a line.")
    line = _csv_line if options["format"] == "csv" else _json_line
    if options["format"] == "csv":
        screen.raw(_csv_line(dict(zip(FIELDS, FIELDS, strict=True))))
    for change in _changes(options):
        screen.raw(line(change))


def _changes(options: Options) -> Iterator[dict[str, object]]:
    """Batch by batch by the primary key: the log may be long, and grows meanwhile."""
    found = Change.objects.order_by("pk")
    if options["tenant"]:
        found = found.filter(tenant_id=tenant_named(options["tenant"]).pk)
    if options["since"]:
        found = found.filter(at__gte=_aware(options["since"]))
    if options["until"]:
        found = found.filter(at__lt=_aware(options["until"]))
    after = 0
    while batch := list(found.filter(pk__gt=after)[:BATCH]):
        for change in batch:
            yield {name: getattr(change, name) for name in FIELDS} | {"values": change.values | _ids(change)}
        after = batch[-1].pk


def _ids(change: Change) -> dict[str, list[int]]:
    """Those of a bulk action."""
    if change.bulk is None:
        return {}
    return {"ids": list(change.subjects.order_by("subject_id").values_list("subject_id", flat=True))}


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _json_line(change: dict[str, object]) -> str:
    return json.dumps(change, cls=DjangoJSONEncoder)


def _csv_line(change: dict[str, object]) -> str:
    values = change["values"]
    cells = change | {"values": values if isinstance(values, str) else json.dumps(values)}
    shown = (cells[name] for name in FIELDS)
    return sheet.line(cell.isoformat() if isinstance(cell, datetime) else cell for cell in shown)


EXPORT = Subcommand("export", "Write the audit log to standard output, oldest first.", arguments, run)
