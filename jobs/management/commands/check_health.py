"""`manage.py check_health`: print the conditions that operators should know of, for a monitor or a person."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError, InterfaceError

from jobs.console.cli.output import WritingCommand
from jobs.console.cli.subcommands import JSON, hide_djangos_options
from jobs.reading.health import Condition, Fault, conditions, look, runbook
from jobs.store.away import told


class Command(WritingCommand):
    help = "Show the conditions that hold. Exits non-zero if one is critical; with --strict also for warnings."

    def add_arguments(self, parser: CommandParser) -> None:
        hide_djangos_options(parser)
        parser.add_argument("--json", action="store_true", help=JSON)
        parser.add_argument("--strict", action="store_true", help="Exit non-zero for warnings, too.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            faults = conditions(look())
        except (DatabaseError, InterfaceError) as error:
            if (why := told(error)) is None:
                raise
            away = Fault(f"The database does not answer: {why}.")
            faults = [Condition("no_database", "critical", away, runbook("no_database"))]
        critical, warnings = (sum(fault.severity == what for fault in faults) for what in ("critical", "warning"))
        sum_up = "1 warning." if warnings == 1 else f"{warnings} warnings."
        fails = critical or (options["strict"] and warnings)
        try:
            if options["json"]:
                document = {"healthy": not critical, "conditions": [fault.document() for fault in faults]}
                self.stdout.write(json.dumps(document))
            else:
                for fault in faults:
                    self.stdout.write(f"{fault.severity}: {fault.code}: {fault.text} See {fault.runbook}")
                if not fails:
                    self.stdout.write(sum_up if warnings else "Healthy.")
        finally:  # a finding matters more than an output that cannot be written
            if fails:
                raise CommandError(f"{critical} critical, {sum_up}")
