"""`manage.py jobs skip-numbers`: after a restore that the clock cannot notice, such as that of a disk's snapshot."""

from django.core.management.base import CommandError
from django.db import IntegrityError

from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.engine import numbers
from jobs.models import Job
from tenants.models import Change

MAX_SKIPPED = 10**12


def run(options: Options, screen: Screen) -> None:
    try:
        number = numbers.skip(options["by"])
    except IntegrityError:  # the entry in the audit log has the number of another
        apps = f"{Job._meta.app_label} {Change._meta.app_label}"
        first = f"manage.py sqlsequencereset {apps} | manage.py dbshell"
        raise CommandError(f"numbers of other tables come again, too; type before it: {first}") from None
    screen.document({"next": number})
    screen.say(f"The next job is number {number:,}.")


MOST = inputs.whole(1, MAX_SKIPPED)
BY = argument("--by", type=MOST, default=numbers.SKIPPED, metavar="N", help="how many (default %(default)s)")
SKIP_NUMBERS = Subcommand(
    "skip-numbers", "Skip numbers of jobs, after PostgreSQL was restored from a snapshot of its disk.", (BY,), run
)
