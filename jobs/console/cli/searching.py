"""The filters of jobs as options of commands."""

from django.utils import timezone

from jobs.console.cli.subcommands import Options, argument
from jobs.console.operations.filters import MOMENTS, JobFilters
from jobs.lifecycle import Status
from jobs.reading.listing import HELD

FILTERS = (
    *("tenant", "status", "queue", "type", "user", "batch", "sequence", "error", "worker", "retried", "since", "until"),
    *("ended_since", "ended_until", "ran", "waited", "attempt"),
)
OPTIONS = (  # one for each filter; a job must match all that are given
    argument("--tenant", metavar="SLUG"),
    argument("--queue", metavar="NAME"),
    argument("--status", choices=[*map(str, Status), HELD], metavar="STATUS"),
    argument(
        "--type",
        metavar="TYPE",
        help="reports.datareport, with a method (reports.datareport.execute), or an object (….execute:13).",
    ),
    argument("--error", metavar="CLASS", help="Only jobs whose last error has this class, e.g. ValueError."),
    argument("--user", metavar="KEY", help="Only jobs for this user of a tenant."),
    argument("--batch", metavar="ID", help="Only jobs of this batch."),
    argument("--sequence", metavar="NAME", help="Only jobs in sequences of this name."),
    argument("--worker", metavar="NAME", help="Only jobs that a worker of this name runs, or ran last."),
    argument("--ran", metavar="LENGTH", help="Only jobs that ran longer or shorter: '>10s', '<1m'."),
    argument("--waited", metavar="LENGTH", help="Only jobs that waited longer or shorter: '>1m', '<2h'."),
    argument("--attempt", metavar="N", help="Only jobs whose last attempt has this number: '>1', '<3', 2."),
    argument(
        "--retried", choices=["yes", "no"], help="Only jobs that had a failed attempt or a crash; or only others."
    ),
    argument("--since", metavar="TIME", help=f"Only jobs submitted after: {MOMENTS}."),
    argument("--until", metavar="TIME", help="Only jobs submitted up to this time."),
    argument("--ended-since", metavar="TIME", help="Only jobs that ended from this time on."),
    argument("--ended-until", metavar="TIME", help="Only jobs that ended before this time."),
)


def given(options: Options) -> dict[str, str]:
    return {name: options[name] for name in FILTERS if options[name]}


def filter_of(options: Options) -> JobFilters:
    """Return the filter of the given options. Raises InvalidRequest."""
    wanted, now = JobFilters(), timezone.now()
    for name, value in given(options).items():
        wanted.add(name, value, now)
    return wanted
