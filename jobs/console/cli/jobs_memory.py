"""`manage.py jobs memory`: show what the job types of a tenant remember, or clear it."""

import json
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandParser

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen, moment
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import tenant_named
from jobs.engine.memories import clear_all
from jobs.models import JobMemory
from jobs.reading import queries
from tenants.models import Tenant

MAX_LISTED = 1000
COLUMNS = [
    Column("ID", right=True),
    Column("JOB TYPE", flexible=True),
    Column("OBJECT", flexible=True),
    Column("WRITTEN (UTC)"),
    Column("CONTENT", flexible=True),
]
FIELDS = ("id", "source_type", "source_method", "source_id", "content", "touched_at")


def _arguments(parser: CommandParser) -> None:
    parser.add_argument("--tenant", metavar="SLUG", required=True)
    parser.add_argument(
        "--type", metavar="TYPE", type=_dotted, help="reports.datareport, or with a method: reports.datareport.execute"
    )
    parser.add_argument("--clear", action="store_true", help="Delete them: the next runs begin without a memory.")
    parser.add_argument(
        "--limit", type=inputs.whole(1, MAX_LISTED), default=50, metavar="N", help="Show at most so many; 50."
    )


def _run(options: Options, screen: Screen) -> None:
    tenant = tenant_named(options["tenant"])
    wanted = _of_type(tenant, options["type"]) if options["type"] else {}
    if options["clear"]:
        _clear(tenant, wanted, screen)
        return
    limit = options["limit"]
    memories = list(queries.memories(tenant.pk).filter(**wanted)[: limit + 1])  # one more, to know of another
    more = len(memories) > limit
    del memories[limit:]
    screen.document({"memories": [_document(memory) for memory in memories], "more": more})
    if not memories:
        screen.say("There are no such memories.")
        return
    screen.table(COLUMNS, map(_row, memories))
    if more:
        screen.say(f"There are more than {limit:,}: see --type and --limit.")


def _dotted(text: str) -> str:
    names = text.split(".")
    if not all(names) or len(names) == 1:
        raise ArgumentTypeError(f"must be like reports.datareport or reports.datareport.execute, not {text!r}")
    return text


def _of_type(tenant: Tenant, name: str) -> dict[str, str]:
    """A source type, or else one with a method. The memories tell which it is, since its code may be gone."""
    if queries.memories(tenant.pk).filter(source_type=name).exists():
        return {"source_type": name}
    source_type, _, method = name.rpartition(".")
    return {"source_type": source_type, "source_method": method}


def _clear(tenant: Tenant, wanted: dict[str, str], screen: Screen) -> None:
    count = clear_all(tenant, **wanted)
    screen.document({"cleared": count})
    screen.say(f"Cleared {count:,} {'memory' if count == 1 else 'memories'}.")


def _document(memory: JobMemory) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in FIELDS}


def _row(memory: JobMemory) -> list[object]:
    return [
        memory.pk,
        f"{memory.source_type} {memory.source_method}",
        memory.source_id or None,
        moment(memory.touched_at),
        json.dumps(memory.content, ensure_ascii=False),
    ]


MEMORY = Subcommand("memory", "Show what the job types of a tenant remember, or clear it.", _arguments, _run)
