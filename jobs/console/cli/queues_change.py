"""`manage.py queues add | pause | resume | set`: a dispatch with the new values follows at once."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from jobs.calls.refusals import InvalidRequest
from jobs.console.cli import limits, queues_list
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.limits import OF_QUEUE
from jobs.console.operations.named import queue_named
from jobs.models import Queue

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


def _add(options: Options, screen: Screen) -> None:
    name = options["name"]
    if queue := Queue.objects.filter(name=name).first():
        screen.say(f"The queue {name} is there, and stays as it is. To change it: manage.py queues set {name}")
    else:
        queue = Queue(name=name)
        limits.change(queue, limits.given(options, SETTINGS))
    queues_list.show([queue], screen)


def _set(options: Options, screen: Screen) -> None:
    changes = limits.given(options, SETTINGS)
    if not changes:
        raise CommandError("set: say what to change; see: manage.py queues set --help")
    _change(options["name"], changes, screen)


def _change(name: str, changes: dict[str, Any], screen: Screen) -> None:
    try:
        queue = queue_named(name)
    except InvalidRequest as refused:
        raise CommandError(f"{refused}; to make it: manage.py queues add {name}") from None
    limits.change(queue, changes)
    queues_list.show([queue], screen)


ADD = Subcommand("add", "Make a queue; one of that name that is there stays as it is.", _settings, _add)
PAUSE = Subcommand("pause", "Pause a queue: its waiting jobs stay waiting, its running jobs continue.", _name, _pause)
RESUME = Subcommand("resume", "Resume a queue.", _name, _resume)
SET = Subcommand("set", "Change a queue's limits and defaults.", _settings, _set)
