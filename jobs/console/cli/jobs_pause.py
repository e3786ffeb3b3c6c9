"""`manage.py jobs pause | resume`: pause or resume a job type."""

from collections.abc import Callable

from django.core.management.base import CommandError

from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from plumbing.text import count_of_jobs

TYPE = (
    argument("source_type", metavar="type", help="The job type, as every list writes it: reports.datareport.execute."),
    argument("source_method", nargs="?", metavar="method", help="If the type was given without it: execute."),
)


def _subcommand(name: str, help: str, change: Callable[[str, str], int], paused: bool, says: str) -> Subcommand:
    def run(options: Options, screen: Screen) -> None:
        source_type, method = options["source_type"], options["source_method"]
        if method is None:
            source_type, _, method = source_type.rpartition(".")
        if not source_type:
            raise CommandError("type: write it with its method, such as reports.datareport.execute")
        count = change(source_type, method)
        screen.document({"source_type": source_type, "source_method": method, "paused": paused, "jobs": count})
        screen.say(f"{source_type}.{method} {says.format(jobs=count_of_jobs(count))}")

    return Subcommand(name, help, TYPE, run)


PAUSE = _subcommand(
    "pause",
    "Pause a job type: its waiting jobs are held, its running jobs continue.",
    pause_job_type,
    True,
    "is paused; {jobs} held.",
)
RESUME = _subcommand(
    "resume",
    "Resume a job type that is paused, even if its code is gone.",
    resume_job_type,
    False,
    "is resumed; {jobs} released.",
)
