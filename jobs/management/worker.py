"""`manage.py jobs worker`. It stands here, since the console does not know Celery."""

from django.core.management.base import CommandParser

from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand


def arguments(parser: CommandParser) -> None:
    parser.add_argument("pool", nargs="?", default="default", help="The pool that it serves (default: default).")
    parser.add_argument(
        "--concurrency", type=inputs.whole(1), metavar="N", help="Its processes (default: one for each processor)."
    )
    parser.add_argument("--reload", action="store_true", help="Start anew when code changes: for development.")


def run(options: Options, screen: Screen) -> None:
    from jobs.worker import launch  # late: the other subcommands need nothing of a worker

    start = launch.run_reloading if options["reload"] else launch.run
    raise SystemExit(start(options["pool"], options["concurrency"]))


WORKER = Subcommand("worker", "Run a worker until Ctrl-C or SIGTERM, when its jobs end.", arguments, run, bare=True)
