"""`manage.py <command> <subcommand> …`: the shared part of the commands."""

import argparse
import getpass
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Any, ClassVar, NoReturn

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError, InterfaceError

from jobs.calls.refusals import InvalidRequest
from jobs.conf import documented
from jobs.console.cli.output import WritingCommand
from jobs.console.cli.screen import Screen
from jobs.store.away import told
from plumbing.text import in_one_line
from tenants import audit

JSON = "Print one JSON document."
Options = dict[str, Any]
Argument = Callable[[CommandParser], object]


def argument(*names: str, **about: Any) -> Argument:
    """An argument or an option of a subcommand; the parameters are those of argparse's `add_argument`."""
    return methodcaller("add_argument", *names, **about)


@dataclass(frozen=True)
class Subcommand:
    """A subcommand.

    run: do it; of a CommandError or InvalidRequest that it raises the user sees one line
    bare: keep its log on, set no actor for the audit log, and skip the system checks
    lines: its output is lines, so its help offers no --json; run refuses it, with what to type instead
    """

    name: str
    help: str
    arguments: Sequence[Argument]
    run: Callable[[Options, Screen], None]
    bare: bool = False
    lines: bool = False


class OneLineParser(CommandParser):
    """A parser that prints an error as one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        if self.called_from_command_line:
            self.exit(2, f"CommandError: {message}\n")
        raise CommandError(message)


class SubcommandsCommand(WritingCommand):
    """A command made of subcommands.

    default: the subcommand that runs if the user names none
    """

    subcommands: ClassVar[Sequence[Subcommand]]
    default: ClassVar[Subcommand | None] = None
    # The checks of other apps, above all of addresses, import the pages and the API: half of what a command costs.
    requires_system_checks = ("jobs", "tenants")

    def add_arguments(self, parser: CommandParser) -> None:
        hide_djangos_options(parser)
        parser.epilog = f"Words: {documented('glossary')}. {parser.epilog}"
        # Django creates this parser itself, always of its own class.
        parser.error = partial(OneLineParser.error, parser)  # type: ignore[method-assign, arg-type]
        _add_json(parser, False, JSON)
        parser.set_defaults(run=None)  # the refusal of argparse would name no command
        children = parser.add_subparsers(parser_class=OneLineParser, metavar="COMMAND", title="commands")
        for subcommand in self.subcommands:
            child = children.add_parser(subcommand.name, help=subcommand.help, description=subcommand.help)
            child.set_defaults(run=subcommand.run, bare=subcommand.bare)
            for add in subcommand.arguments:
                add(child)
            if subcommand is self.default:
                options = {option.dest: option.default for option in child._actions[1:]}  # all but --help
                parser.set_defaults(run=subcommand.run, **options)
            # Suppress the default: it would undo a --json given before the subcommand.
            _add_json(child, argparse.SUPPRESS, argparse.SUPPRESS if subcommand.lines else JSON)

    def execute(self, *args: Any, **options: Any) -> str | None:
        return super().execute(*args, **options | ({"skip_checks": True} if options.get("bare") else {}))

    def handle(self, *args: Any, **options: Any) -> None:
        if options["run"] is None:
            raise CommandError(
                f"name a command: {', '.join(subcommand.name for subcommand in self.subcommands)}", returncode=2
            )
        screen = Screen(self.stdout, as_json=options["json"], no_color=options["no_color"])
        try:
            with nullcontext() if options.get("bare") else _by_a_person():
                options["run"](options, screen)
        except InvalidRequest as refused:
            raise CommandError(in_one_line(str(refused))) from None
        except (DatabaseError, InterfaceError) as error:
            if (why := told(error)) is None:
                raise
            raise CommandError(f"database: {why}") from error


@contextmanager
def _by_a_person() -> Iterator[None]:
    """Name the user in the audit log, and keep the lines of the jobs' log out of the tables."""
    logger = logging.getLogger("jobs")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with audit.acting(f"{_person()} at the command line"):
            yield
    finally:
        logger.setLevel(before)


def _person() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container whose users have no names
        return f"user {os.getuid()}"


def hide_djangos_options(parser: CommandParser) -> None:
    """Leave Django's options out of the help, where they would hide ours. Call it before ours are added."""
    for option in parser._actions[1:]:  # all but --help
        option.help = argparse.SUPPRESS
    parser.epilog = "Django's options, such as --settings and --no-color: manage.py check --help"


def _add_json(parser: CommandParser, default: Any, help: str) -> None:
    parser.add_argument("--json", action="store_true", default=default, help=help)
