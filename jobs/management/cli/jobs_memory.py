"""`manage.py jobs memory`: show what the job types of a tenant remember, or clear it."""

import json
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandParser

from jobs import queries, store
from jobs.management.cli import inputs
from jobs.management.cli.screen import Column, Screen, moment
from jobs.management.cli.subcommands import Options, Subcommand
from jobs.models import JobMemory
from tenants import audit
from tenants.models import Tenant

MOST = 1000
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
        "--type", metavar="TYPE", type=_job_type, default={}, help="reports.datareport, or reports.datareport.execute"
    )
    parser.add_argument("--clear", action="store_true", help="Delete them: the next runs begin without a memory.")
    parser.add_argument(
        "--limit", type=inputs.whole(1, MOST), default=50, metavar="N", help="Show at most so many; 50."
    )


def _run(options: Options, screen: Screen) -> None:
    tenant = inputs.tenant_named(options["tenant"])
    if options["clear"]:
        _clear(tenant, options["type"], screen)
        return
    limit = options["limit"]
    memories = list(queries.memories(tenant.pk).filter(**options["type"])[: limit + 1])  # one more, to know of another
    more = len(memories) > limit
    del memories[limit:]
    screen.document({"memories": [_document(memory) for memory in memories], "more": more})
    if not memories:
        screen.say("There are no such memories.")
        return
    screen.table(COLUMNS, map(_row, memories))
    if more:
        screen.say(f"There are more than {limit:,}: see --type and --limit.")


def _job_type(text: str) -> dict[str, str]:
    """The source type, perhaps with a method; its code may be gone."""
    names = text.split(".")
    if not all(names) or not 2 <= len(names) <= 3:  # noqa: PLR2004
        raise ArgumentTypeError(f"must be like reports.datareport or reports.datareport.execute, not {text!r}")
    return {"source_type": ".".join(names[:2])} | ({"source_method": names[2]} if names[2:] else {})


def _clear(tenant: Tenant, wanted: dict[str, Any], screen: Screen) -> None:
    count = store.forget(tenant.pk, **wanted)
    of = " ".join([f"{tenant.slug}:", *wanted.values()])
    if count:
        values = {"memories": [count, 0]}
        audit.note("cleared", JobMemory._meta.label_lower, [(tenant.slug, of)], values, tenant_id=tenant.pk)
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
