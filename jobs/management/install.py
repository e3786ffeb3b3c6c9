"""`manage.py jobs install --check`."""

from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.management.installing.command import CHECK, HELP
from jobs.management.installing.report import write


def run(options: Options, screen: Screen) -> None:
    raise SystemExit(0 if write(screen.raw) else 1)


INSTALL = Subcommand("install", HELP, [argument("--check", **CHECK)], run, bare=True)
