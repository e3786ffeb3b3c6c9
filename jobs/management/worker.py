"""`manage.py jobs worker`. It stands here, since the console does not know Celery."""

from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument

ARGUMENTS = (
    argument("pool", nargs="?", default="default", help="The pool that it serves (default: default)."),
    argument(
        "--concurrency", type=inputs.whole(1), metavar="N", help="Its processes (default: one for each processor)."
    ),
    argument("--reload", action="store_true", help="Start anew when code changes: for development."),
)


def run(options: Options, screen: Screen) -> None:
    from jobs.worker import launch  # late: the other subcommands need nothing of a worker

    start = launch.run_reloading if options["reload"] else launch.run
    raise SystemExit(start(options["pool"], options["concurrency"]))


WORKER = Subcommand("worker", "Run a worker until Ctrl-C or SIGTERM, when its jobs end.", ARGUMENTS, run, bare=True)
