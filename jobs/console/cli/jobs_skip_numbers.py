"""`manage.py jobs skip-numbers`: skip job ids after a restore that the clock cannot notice, such as a disk snapshot."""

from django.core.management.base import CommandError
from django.db import IntegrityError

from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.engine.upkeep import id_gaps
from jobs.models import Job
from tenants.models import Change

MAX_SKIPPED = 10**12


def run(options: Options, screen: Screen) -> None:
    try:
        number = id_gaps.skip(options["by"])
    except IntegrityError:  # the id of the entry in the audit log is taken
        apps = f"{Job._meta.app_label} {Change._meta.app_label}"
        first = f"manage.py sqlsequencereset {apps} | manage.py dbshell"
        raise CommandError(f"other tables would use numbers again, too; first run: {first}") from None
    screen.document({"next": number})
    screen.say(f"The next job is number {number:,}.")


MOST = inputs.whole(1, MAX_SKIPPED)
BY = argument("--by", type=MOST, default=id_gaps.SKIPPED, metavar="N", help="How many (default %(default)s).")
SKIP_NUMBERS = Subcommand(
    "skip-numbers", "Skip job numbers, after PostgreSQL was restored from a snapshot of its disk.", (BY,), run
)
