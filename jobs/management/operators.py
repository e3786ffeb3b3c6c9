"""`manage.py jobs`: submit, show and change jobs of any tenant; run a worker."""

from jobs import extensions
from jobs.console.cli import inputs
from jobs.console.cli.jobs_batches import BATCHES
from jobs.console.cli.jobs_change import CANCEL, DISCARD, REVIVE
from jobs.console.cli.jobs_erase import ERASE
from jobs.console.cli.jobs_list import LIST
from jobs.console.cli.jobs_memory import MEMORY
from jobs.console.cli.jobs_pause import PAUSE, RESUME
from jobs.console.cli.jobs_show import EXPLAIN, SHOW
from jobs.console.cli.jobs_skip_numbers import SKIP_NUMBERS
from jobs.console.cli.jobs_stack import STACK
from jobs.console.cli.jobs_submit import SUBMIT
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, SubcommandsCommand, argument
from jobs.management.installing.command import CHECK, HELP
from jobs.management.installing.report import write


def _run_worker(options: Options, screen: Screen) -> None:
    from jobs.worker import launch  # late: the other subcommands do not need it

    start = launch.run_reloading if options["reload"] else launch.run
    raise SystemExit(start(options["pool"], options["concurrency"]))


def _install(options: Options, screen: Screen) -> None:
    raise SystemExit(0 if write(screen.raw) else 1)


# These two are not in `jobs.console`, which imports neither Celery nor the report for a project that is not set up yet.
ARGUMENTS = (
    argument("pool", nargs="?", default="default", help="The pool that the worker serves (default: default)."),
    argument(
        "--concurrency", type=inputs.whole(1), metavar="N", help="How many processes (default: one for each processor)."
    ),
    argument("--reload", action="store_true", help="Restart when code changes: for development."),
)
WORKER = Subcommand(
    "worker", "Run a worker until Ctrl-C or SIGTERM; then it lets its jobs end.", ARGUMENTS, _run_worker, bare=True
)
INSTALL = Subcommand("install", HELP, [argument("--check", **CHECK)], _install, bare=True)


class Command(SubcommandsCommand):
    help = "Submit, show and change jobs of any tenant; run a worker."
    subcommands = (
        *(SUBMIT, LIST, BATCHES, SHOW, EXPLAIN, STACK, CANCEL, REVIVE, DISCARD, PAUSE, RESUME, MEMORY, ERASE),
        SKIP_NUMBERS,
        *extensions.subcommands(),
        *(WORKER, INSTALL),
    )
