"""The filters of jobs as options of commands."""

from django.core.management.base import CommandParser
from django.utils import timezone

from jobs.console.cli.subcommands import Options
from jobs.console.operations.filters import HELD, Filter
from jobs.lifecycle import Status

FILTERS = ("tenant", "status", "queue", "type", "user", "batch", "error", "worker", "retried", "since", "until")


def add_options(parser: CommandParser) -> None:
    """An option for each filter; a job must fit all that are given."""
    parser.add_argument("--tenant", metavar="SLUG")
    parser.add_argument("--queue", metavar="NAME")
    parser.add_argument("--status", choices=[*Status, HELD], metavar="STATUS")
    parser.add_argument(
        "--type",
        metavar="TYPE",
        help="reports.datareport, with a method (reports.datareport.execute), or an object (….execute:13).",
    )
    parser.add_argument("--error", metavar="CLASS", help="Only jobs whose last error has this class, e.g. ValueError.")
    parser.add_argument("--user", metavar="KEY", help="Only jobs for this user of a tenant.")
    parser.add_argument("--batch", metavar="ID", help="Only jobs of this batch.")
    parser.add_argument("--worker", metavar="NAME", help="Only jobs that a worker of this name runs, or ran last.")
    parser.add_argument("--retried", choices=["yes", "no"], help="Only jobs with failed attempts, or without.")
    parser.add_argument("--since", metavar="TIME", help="Submitted after: 30m, 1h, 7d ago, or 2030-01-31T02:00 (UTC).")
    parser.add_argument("--until", metavar="TIME", help="Submitted up to then.")


def given(options: Options) -> dict[str, str]:
    """Those that were given."""
    return {name: options[name] for name in FILTERS if options[name]}


def filter_of(options: Options) -> Filter:
    """Raises InvalidRequest."""
    wanted, now = Filter(), timezone.now()
    for name, value in given(options).items():
        wanted.add(name, value, now)
    return wanted
