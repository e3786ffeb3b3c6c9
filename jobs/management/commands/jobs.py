"""`manage.py jobs`: submit, show and change jobs of any tenant."""

from jobs.management.cli.jobs_change import CANCEL, DISCARD, REVIVE
from jobs.management.cli.jobs_erase import ERASE
from jobs.management.cli.jobs_list import LIST
from jobs.management.cli.jobs_memory import MEMORY
from jobs.management.cli.jobs_pause import PAUSE, RESUME
from jobs.management.cli.jobs_show import EXPLAIN, SHOW
from jobs.management.cli.jobs_skip_numbers import SKIP_NUMBERS
from jobs.management.cli.jobs_submit import SUBMIT
from jobs.management.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Submit, show and change jobs of any tenant."
    subcommands = (SUBMIT, LIST, SHOW, EXPLAIN, CANCEL, REVIVE, DISCARD, PAUSE, RESUME, MEMORY, ERASE, SKIP_NUMBERS)
