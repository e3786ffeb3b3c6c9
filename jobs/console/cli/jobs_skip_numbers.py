"""`manage.py jobs skip-numbers`: after a restore that the clock cannot notice, such as that of a disk's snapshot."""

from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.engine import numbers

MAX_SKIPPED = 10**12


def run(options: Options, screen: Screen) -> None:
    number = numbers.skip(options["by"])
    screen.document({"next": number})
    screen.say(f"The next job is number {number:,}.")


MOST = inputs.whole(1, MAX_SKIPPED)
BY = argument("--by", type=MOST, default=numbers.SKIPPED, metavar="N", help="how many (default %(default)s)")
SKIP_NUMBERS = Subcommand(
    "skip-numbers", "Skip numbers of jobs, after PostgreSQL was restored from a snapshot of its disk.", (BY,), run
)
