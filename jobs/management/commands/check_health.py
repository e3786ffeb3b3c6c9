"""`manage.py check_health`: the conditions that operators should know of, for a monitor or a person."""

import dataclasses
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.reading.health import conditions, look


class Command(BaseCommand):
    help = "Show what is not as it should be. Exits non-zero if anything is critical; --strict: if anything is found."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON document.")
        parser.add_argument("--strict", action="store_true", help="Fail for warnings, too.")

    def handle(self, *args: Any, **options: Any) -> None:
        found = conditions(look())
        critical, warnings = (sum(one.severity == what for one in found) for what in ("critical", "warning"))
        if options["json"]:
            document = {"healthy": not critical, "conditions": [dataclasses.asdict(one) for one in found]}
            self.stdout.write(json.dumps(document))
        else:
            for one in found:
                self.stdout.write(f"{one.severity}: {one.code}: {one.text} See {one.runbook}")
        if critical or (options["strict"] and warnings):
            raise CommandError(f"{critical} critical, {warnings} warnings.")
        if not options["json"]:
            self.stdout.write(f"{warnings} warnings." if warnings else "Healthy.")
