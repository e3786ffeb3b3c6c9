"""`manage.py queues pause | resume | set`: a dispatch with the new values follows at once."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from jobs.console.cli import limits, queues_list
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.limits import OF_QUEUE
from jobs.console.operations.named import queue_named

SETTINGS = [limit for limit in OF_QUEUE if limit.name != "paused"]  # which has commands of its own


def _name(parser: CommandParser) -> None:
    parser.add_argument("name", help="The queue.")


def _settings(parser: CommandParser) -> None:
    _name(parser)
    limits.add_options(parser, SETTINGS, {})


def _pause(options: Options, screen: Screen) -> None:
    _change(options["name"], {"paused": True}, screen)


def _resume(options: Options, screen: Screen) -> None:
    _change(options["name"], {"paused": False}, screen)


def _set(options: Options, screen: Screen) -> None:
    changes = limits.given(options, SETTINGS)
    if not changes:
        raise CommandError("set: say what to change; see: manage.py queues set --help")
    _change(options["name"], changes, screen)


def _change(name: str, changes: dict[str, Any], screen: Screen) -> None:
    queue = queue_named(name)
    limits.change(queue, changes)
    queues_list.show([queue], screen)


PAUSE = Subcommand("pause", "Pause a queue: its waiting jobs stay waiting, its running jobs continue.", _name, _pause)
RESUME = Subcommand("resume", "Resume a queue.", _name, _resume)
SET = Subcommand("set", "Change a queue's limits and defaults.", _settings, _set)
