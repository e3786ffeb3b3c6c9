"""`manage.py jobs skip-numbers`: after a restore that the clock cannot notice, such as that of a disk's snapshot."""

from django.core.management.base import CommandError

from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.engine import numbers

MAX_SKIPPED = 10**12


def run(options: Options, screen: Screen) -> None:
    by = options["by"]
    if not 1 <= by <= MAX_SKIPPED:
        raise CommandError(f"--by must be from 1 to {MAX_SKIPPED:,}, not {by:,}.")
    number = numbers.skip(by)
    screen.document({"next": number})
    screen.say(f"The next job is number {number:,}.")


BY = argument("--by", type=int, default=numbers.SKIPPED, metavar="N", help="how many (default %(default)s)")
SKIP_NUMBERS = Subcommand(
    "skip-numbers", "Skip numbers of jobs, after PostgreSQL was restored from a snapshot of its disk.", (BY,), run
)
