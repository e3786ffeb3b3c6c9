"""`manage.py jobs` where `tenants` is not installed yet, so that no model of ours can be imported."""

from typing import Any

from django.core.management.base import CommandParser

from jobs.console.cli.output import WritingCommand
from jobs.management.installing.report import write

HELP = "Print what this project still lacks for jobs, as settings with reasons. Fails if it lacks anything."


CHECK: dict[str, Any] = {"action": "store_true", "required": True, "help": "Only check; change nothing."}


class Command(WritingCommand):
    help = "Jobs are not installed: INSTALLED_APPS has no tenants."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        child = parser.add_subparsers(metavar="COMMAND", required=True).add_parser("install", help=HELP)
        child.add_argument("--check", **CHECK)

    def handle(self, *args: Any, **options: Any) -> None:
        raise SystemExit(0 if write(self.stdout.write) else 1)
