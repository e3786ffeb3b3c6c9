"""`manage.py jobs install --check`."""

from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.management.installing.command import HELP, arguments
from jobs.management.installing.report import write


def run(options: Options, screen: Screen) -> None:
    raise SystemExit(0 if write(screen.raw) else 1)


INSTALL = Subcommand("install", HELP, arguments, run, bare=True)
