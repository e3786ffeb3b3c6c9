"""`manage.py jobs memory`: show or clear the memories of a tenant's job types."""

import json
from argparse import ArgumentTypeError

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import tenant_named
from jobs.engine.attempt.memory import clear_all
from jobs.reading import queries
from tenants.models import Tenant

COLUMNS = [
    Column("ID", "id", right=True),
    Column("JOB TYPE", lambda memory: f"{memory.source_type} {memory.source_method}", flexible=True),
    Column("OBJECT", "source_id", flexible=True),
    Column("WRITTEN (UTC)", "touched_at"),
    Column("CONTENT", lambda memory: json.dumps(memory.content, ensure_ascii=False), flexible=True),
]
FIELDS = ("id", "source_type", "source_method", "source_id", "content", "touched_at")


def _run(options: Options, screen: Screen) -> None:
    tenant = tenant_named(options["tenant"])
    wanted = _of_type(tenant, options["type"]) if options["type"] else {}
    if options["clear"]:
        _clear(tenant, wanted, screen)
        return
    memories, more = inputs.first(queries.memories(tenant.pk).filter(**wanted), options)
    screen.document(
        {"memories": [{name: getattr(memory, name) for name in FIELDS} for memory in memories], "more": more}
    )
    screen.table(COLUMNS, memories, none="There are no such memories.")
    if more:
        screen.say(f"There are more than {options['limit']:,}: see --type and --limit.")


def _dotted(text: str) -> str:
    names = text.split(".")
    if not all(names) or len(names) == 1:
        raise ArgumentTypeError(f"must be like reports.datareport or reports.datareport.execute, not {text!r}")
    return text


def _of_type(tenant: Tenant, name: str) -> dict[str, str]:
    """Return the filter for a source type, or for one with a method.

    The memories decide which it is: the code of the type may be gone.
    """
    if queries.memories(tenant.pk).filter(source_type=name).exists():
        return {"source_type": name}
    source_type, _, method = name.rpartition(".")
    return {"source_type": source_type, "source_method": method}


def _clear(tenant: Tenant, wanted: dict[str, str], screen: Screen) -> None:
    count = clear_all(tenant, **wanted)
    screen.document({"cleared": count})
    screen.say(f"Cleared {count:,} {'memory' if count == 1 else 'memories'}.")


TYPE = "Only this job type: reports.datareport, or with a method: reports.datareport.execute."
ARGUMENTS = (
    argument("--tenant", metavar="SLUG", required=True),
    argument("--type", metavar="TYPE", type=_dotted, help=TYPE),
    argument("--clear", action="store_true", help="Delete them: the next runs begin without a memory."),
    inputs.limit(50),
)
MEMORY = Subcommand("memory", "Show or clear the memories of a tenant's job types.", ARGUMENTS, _run)
