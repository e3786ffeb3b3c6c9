"""`manage.py tenants usage`: what tenants used, for their bills."""

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from jobs.authoring import sheet
from jobs.console.cli.screen import Column, Screen, utc
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import tenant_named
from jobs.reading import usage
from tenants.tenant_model import slugs_of

COLUMNS = {
    "tenant": Column("TENANT", flexible=True),
    "day": Column("DAY (UTC)"),
    "queue": Column("QUEUE", flexible=True),
    "source_type": Column("TYPE", flexible=True),
    "source_method": Column("METHOD", flexible=True),
    "outcome": Column("OUTCOME"),
    "attempts": Column("ATTEMPTS", right=True),
    "worker_seconds": Column("WORKER-SECONDS", right=True),
    "peak_slots": Column("PEAK SLOTS", right=True),
}
PARTS_OF = {"type": ("source_type", "source_method")}


def arguments(parser: CommandParser) -> None:
    parser.add_argument("slug", nargs="?", help="The tenant. Default: all tenants.")
    parser.add_argument("--from", dest="from", metavar="DAY", help="The first day. Default: the first of this month.")
    parser.add_argument("--to", metavar="DAY", help="The day after the last one. Default: tomorrow.")
    parser.add_argument("--by", metavar="PARTS", help=f"With commas: of {','.join(usage.PARTS)}. Default: tenant.")
    parser.add_argument("--csv", action="store_true", help="Print lines for spreadsheets.")
    parser.add_argument("--final", action="store_true", help="Only if the period is final; otherwise fail.")


def run(options: Options, screen: Screen) -> None:
    if options["csv"] and options["json"]:
        raise CommandError("--json: not together with --csv")
    now = timezone.now()
    asked = usage.Asked.of(options["from"], options["to"], options["by"], now=now)
    tenant = None if options["slug"] is None else tenant_named(options["slug"]).pk
    found = usage.read(asked, tenant, now, most=None)
    if options["final"] and not found.final:
        raise CommandError(f"--final: the period up to {found.ends} is not final yet")
    told = usage.document(found, slugs_of({line.tenant_id for line in found.lines}))
    names = [name for part in asked.by for name in PARTS_OF.get(part, (part,))]
    names += ["attempts", "worker_seconds", "peak_slots"]
    if options["csv"]:
        screen.raw(sheet.line(names))
        for line in told["usage"]:
            screen.raw(sheet.line(_exact(name, line[name]) for name in names))
        return
    screen.document(told)
    screen.table([COLUMNS[name] for name in names], [[_shown(line[name]) for name in names] for line in told["usage"]])
    state = f"final since {utc(found.final_at)}" if found.final else "not final yet"
    screen.say(
        f"From {found.starts} up to {found.ends} (UTC): {found.attempts:,} attempts, "
        f"{found.worker_seconds:,.3f} worker-seconds; {state}."
    )


def _exact(name: str, value: object) -> object:
    return f"{value:.6f}" if name == "worker_seconds" else value


def _shown(value: object) -> object:
    if isinstance(value, float):
        return f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) else value


USAGE = Subcommand("usage", "Show what tenants used, for their bills: by tenant, day, queue or type.", arguments, run)
