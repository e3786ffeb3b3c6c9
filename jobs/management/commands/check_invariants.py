"""`manage.py check_invariants`: look for invariant violations in live data."""

import dataclasses
import json
import threading
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection

from jobs.console.cli.output import WritingCommand
from jobs.console.cli.subcommands import JSON, hide_djangos_options
from jobs.engine.door import repairs
from jobs.recording import inspection

BETWEEN_LOOKS = 3.0  # seconds: longer than the clock's tick, which claims every job that may start


class Command(WritingCommand):
    help = "Look for invariant violations: exceeded limits, half-states, stuck jobs. Exits non-zero if it finds any."

    def add_arguments(self, parser: CommandParser) -> None:
        hide_djangos_options(parser)
        parser.add_argument("--json", action="store_true", help=JSON)

    def handle(self, *args: Any, **options: Any) -> None:
        before = inspection.look()
        if not connection.in_atomic_block:
            connection.close()  # PostgreSQL may end a session that is idle for as long (idle_session_timeout)
        threading.Event().wait(BETWEEN_LOOKS)
        violations = inspection.findings(before, inspection.look())
        made = repairs.counts()
        try:
            if options["json"]:
                document = {"findings": [dataclasses.asdict(finding) for finding in violations], "repairs": made}
                self.stdout.write(json.dumps(document))
            else:
                for finding in violations:
                    self.stdout.write(f"{finding.what}: {finding.subject}: {finding.detail}")
                self.stdout.write(
                    ", ".join(f"{count} × {kind}" for kind, count in made.items()) or "No repairs so far."
                )
                if not violations:
                    self.stdout.write("No violations found.")
        finally:  # a finding matters more than an output that cannot be written
            if violations:
                raise CommandError(
                    "1 violation found." if len(violations) == 1 else f"{len(violations):,} violations found."
                )
