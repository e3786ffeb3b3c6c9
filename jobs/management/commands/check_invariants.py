"""`manage.py check_invariants`: whether all is as it must be, on live data."""

import dataclasses
import json
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.engine import check, repairs

BETWEEN_LOOKS = 3.0  # seconds: longer than the clock's tick, which would have claimed what may be claimed


class Command(BaseCommand):
    help = "Look for what must not be: limits exceeded, half-states, jobs stuck. Exits non-zero if there is any."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document instead of sentences")

    def handle(self, *args: Any, **options: Any) -> None:
        before = check.look()
        threading.Event().wait(BETWEEN_LOOKS)
        found = check.findings(before, check.look())
        made = repairs.counts()
        if options["json"]:
            document = {"findings": [dataclasses.asdict(finding) for finding in found], "repairs": made}
            self.stdout.write(json.dumps(document))
        else:
            for finding in found:
                self.stdout.write(f"{finding.what}: {finding.subject}: {finding.detail}")
            self.stdout.write(", ".join(f"{count} × {kind}" for kind, count in made.items()) or "No repairs so far.")
        if found:
            raise CommandError(f"{len(found)} found.")
        if not options["json"]:
            self.stdout.write("All is as it must be.")
