"""`manage.py queues pause | resume | set`: a dispatch with the new values follows at once."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from jobs.console.cli import inputs, limits, queues_list
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand


def _name(parser: CommandParser) -> None:
    parser.add_argument("name", help="The queue.")


def _settings(parser: CommandParser) -> None:
    unset: Any = ...  # "none" is a value
    _name(parser)
    parser.add_argument("--weight", type=inputs.whole(1), metavar="N", help="Weights 3 and 1 share the workers 3 : 1.")
    parser.add_argument(
        "--concurrency",
        type=inputs.whole_or_none(0),
        default=unset,
        metavar="N",
        help='The most jobs at once, or "none".',
    )
    parser.add_argument(
        "--rate", type=inputs.rate, metavar="JOBS/SECONDS", help='The most jobs started per window, or "none".'
    )


def _pause(options: Options, screen: Screen) -> None:
    _change(options["name"], {"paused": True}, screen)


def _resume(options: Options, screen: Screen) -> None:
    _change(options["name"], {"paused": False}, screen)


def _set(options: Options, screen: Screen) -> None:
    changes: dict[str, Any] = {}
    if options["weight"] is not None:
        changes["weight"] = options["weight"]
    if options["concurrency"] is not ...:
        changes["concurrency"] = options["concurrency"]
    if options["rate"] is not None:
        changes["rate_limit"], changes["rate_window"] = options["rate"]
    if not changes:
        raise CommandError("set: give at least one of --weight, --concurrency, --rate")
    _change(options["name"], changes, screen)


def _change(name: str, changes: dict[str, Any], screen: Screen) -> None:
    queue = inputs.queue_named(name)
    limits.change(queue, changes)
    queues_list.show([queue], screen)


PAUSE = Subcommand("pause", "Pause a queue: its waiting jobs stay waiting, its running jobs continue.", _name, _pause)
RESUME = Subcommand("resume", "Resume a queue.", _name, _resume)
SET = Subcommand("set", "Change a queue's weight, concurrency or rate limit.", _settings, _set)
