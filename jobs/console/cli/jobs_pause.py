"""`manage.py jobs pause | resume`: pause or resume a job type."""

from collections.abc import Callable

from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from plumbing.text import count_of_jobs

TYPE = (
    argument("source_type", help="E.g. reports.datareport."),
    argument("source_method", metavar="method", help="E.g. execute."),
)


def _subcommand(name: str, help: str, change: Callable[[str, str], int], paused: bool, says: str) -> Subcommand:
    def run(options: Options, screen: Screen) -> None:
        named = {key: options[key] for key in ("source_type", "source_method")}
        count = change(options["source_type"], options["source_method"])
        screen.document(named | {"paused": paused, "jobs": count})
        screen.say(says.format(**named, jobs=count_of_jobs(count)))

    return Subcommand(name, help, TYPE, run)


PAUSE = _subcommand(
    "pause",
    "Pause a job type: its waiting jobs are held, its running jobs continue.",
    pause_job_type,
    True,
    "{source_type} {source_method} is paused; {jobs} held.",
)
RESUME = _subcommand(
    "resume",
    "Resume a job type that is paused, even if its code is gone.",
    resume_job_type,
    False,
    "{source_type} {source_method} is resumed; {jobs} released.",
)
