"""`manage.py tenants usage`: what tenants used, for their bills."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from jobs.console.cli.screen import Column, Screen, count, utc
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import tenant_named
from jobs.reading import usage
from plumbing import sheet

COLUMNS = {
    "tenant": Column("TENANT", "tenant", flexible=True),
    "day": Column("DAY (UTC)", "day"),
    "queue": Column("QUEUE", "queue", flexible=True),
    "source_type": Column("TYPE", "source_type", flexible=True),
    "source_method": Column("METHOD", "source_method", flexible=True),
    "outcome": Column("OUTCOME", "outcome"),
    "attempts": Column("ATTEMPTS", lambda line: count(line["attempts"]), right=True),
    "worker_seconds": Column("WORKER-SECONDS", lambda line: f"{line['worker_seconds']:,.3f}", right=True),
    "targeted": Column("WITH TARGET", lambda line: count(line["targeted"]), right=True, wide=True),
    "in_time": Column("IN TIME", lambda line: count(line["in_time"]), right=True, wide=True),
    "peak_slots": Column("PEAK SLOTS", lambda line: count(line["peak_slots"]), right=True),
}
PARTS_OF = {"type": ("source_type", "source_method")}
ARGUMENTS = (
    argument("slug", nargs="?", help="The tenant. Default: all tenants."),
    argument("--from", dest="from", metavar="DAY", help="The first day. Default: the first of this month."),
    argument("--to", metavar="DAY", help="The day after the last one. Default: tomorrow."),
    argument("--by", metavar="PARTS", help=f"How to group, with commas: {','.join(usage.PARTS)}. Default: tenant."),
    argument("--csv", action="store_true", help="Print CSV, for spreadsheets."),
    argument("--final", action="store_true", help="Fail if the period is not final yet."),
)


def run(options: Options, screen: Screen) -> None:
    if options["csv"] and options["json"]:
        raise CommandError("--json: not together with --csv")
    now = timezone.now()
    query = usage.UsageRequest.parse(options["from"], options["to"], options["by"], now=now)
    tenant = None if options["slug"] is None else tenant_named(options["slug"]).pk
    answer = usage.read(query, tenant, now, max_lines=None)
    if options["final"] and not answer.final:
        raise CommandError(f"--final: the period up to {answer.ends} is not final yet")
    document = usage.document(answer)
    names = [name for part in query.by for name in PARTS_OF.get(part, (part,))]
    units = [f"units.{name}" for name in answer.units]  # a column for each unit, after those that there always are
    names += ["attempts", "worker_seconds", "peak_slots", "targeted", "in_time", *units]
    if options["csv"]:
        screen.raw(sheet.line(names))
        for line in document["usage"]:
            screen.raw(sheet.line(_exact(name, _value(line, name)) for name in names))
        return
    screen.document(document)
    screen.table([COLUMNS.get(name) or _of_unit(name) for name in names], document["usage"])
    state = f"final since {utc(answer.final_at)}" if answer.final else "not final yet"
    screen.say(
        f"From {answer.starts} up to {answer.ends} (UTC): {answer.attempts:,} attempts, "
        f"{answer.worker_seconds:,.3f} worker-seconds; {state}."
    )


def _value(line: Mapping[str, Any], name: str) -> Any:
    return line[name] if name in line else line["units"].get(name.removeprefix("units."), 0)


def _of_unit(name: str) -> Column:
    return Column(name.removeprefix("units.").upper(), lambda line: count(_value(line, name)), right=True)


def _exact(name: str, value: object) -> object:
    return f"{value:.6f}" if name == "worker_seconds" else value


USAGE = Subcommand("usage", "Show what tenants used, for their bills: by tenant, day, queue or type.", ARGUMENTS, run)
