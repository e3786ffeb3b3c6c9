"""`manage.py jobs`: submit, show and change jobs of any tenant; run a worker."""

from jobs.console.cli.jobs_batches import BATCHES
from jobs.console.cli.jobs_change import CANCEL, DISCARD, REVIVE
from jobs.console.cli.jobs_erase import ERASE
from jobs.console.cli.jobs_list import LIST
from jobs.console.cli.jobs_memory import MEMORY
from jobs.console.cli.jobs_pause import PAUSE, RESUME
from jobs.console.cli.jobs_show import EXPLAIN, SHOW
from jobs.console.cli.jobs_skip_numbers import SKIP_NUMBERS
from jobs.console.cli.jobs_submit import SUBMIT
from jobs.console.cli.jobs_what_if import WHAT_IF
from jobs.console.cli.subcommands import SubcommandsCommand
from jobs.management.install import INSTALL
from jobs.management.worker import WORKER


class Command(SubcommandsCommand):
    help = "Submit, show and change jobs of any tenant; run a worker."
    subcommands = (
        *(SUBMIT, LIST, BATCHES, SHOW, EXPLAIN, CANCEL, REVIVE, DISCARD, PAUSE, RESUME, MEMORY, ERASE, SKIP_NUMBERS),
        WHAT_IF,
        *(WORKER, INSTALL),
    )
