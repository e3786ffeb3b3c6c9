"""`manage.py jobs list`: newest first; scheduled jobs by due moment; dead letters by latest death."""

from collections.abc import Sequence

from django.core.management.base import CommandParser
from django.db.models import Q

from jobs.console.cli import inputs, job_view, searching
from jobs.console.cli.screen import Column, Screen, length, moment
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.lifecycle import Status
from jobs.models import Job, JobRow
from jobs.reading import listing, queries

# These have an order and an index of their own.
ORDERS = {Status.SCHEDULED: "due_at", Status.DEAD: "-died_at"}
MAX_LISTED = 10_000

COLUMNS = [
    Column("ID", right=True),
    Column("STATUS"),
    Column("TENANT", flexible=True),
    Column("QUEUE", flexible=True, wide=True),
    Column("PRIO", right=True, wide=True),
    Column("USER", wide=True),
    Column("CALL", flexible=True, tail=True),
    Column("TRY", right=True, wide=True),
    Column("SUBMITTED (UTC)", wide=True),
    Column("AGE", right=True),
    Column("WAITED", right=True),
    Column("RAN", right=True),
]
DUE_COLUMNS = [
    Column("ID", right=True),
    Column("STATUS"),
    Column("TENANT", flexible=True),
    Column("QUEUE", flexible=True),
    Column("CALL", flexible=True, tail=True),
    Column("TRY", right=True),
    Column("DUE (UTC)", wide=True),
    Column("DUE IN", right=True),
]
FAILED_COLUMNS = [
    Column("ID", right=True),
    Column("STATUS", wide=True),
    Column("TENANT", flexible=True),
    Column("QUEUE", wide=True, flexible=True),
    Column("CALL", flexible=True, tail=True),
    Column("TRY", right=True),
    Column("ENDED (UTC)", wide=True),
    Column("AGO", right=True),
    Column("LAST ERROR", flexible=True),
]


def arguments(parser: CommandParser) -> None:
    searching.add_options(parser)
    parser.add_argument(
        "--before", type=inputs.job_id, metavar="ID", help="Only jobs with a lower id; a look reads 10,000."
    )
    parser.add_argument("--limit", type=inputs.whole(1, MAX_LISTED), default=20, metavar="N", help="Default: 20.")


def run(options: Options, screen: Screen) -> None:
    jobs, more = _selected(options)
    screen.document({"jobs": [job_view.as_json(job) for job in jobs], "more": bool(more)})
    if not jobs and not more:
        screen.say("No jobs match.")
        return
    if options["error"] or options["status"] in {Status.DEAD, Status.ERROR}:
        screen.table(FAILED_COLUMNS, map(_failed_row, jobs))
    elif options["status"] == Status.SCHEDULED:
        screen.table(DUE_COLUMNS, map(_due_row, jobs))
    else:
        screen.table(COLUMNS, map(_row, jobs))
    if more:
        screen.say(more)


def _selected(options: Options) -> tuple[Sequence[JobRow], str]:
    """The jobs, and how to see more; "" if these are all."""
    limit, before, wanted = options["limit"], options["before"], searching.filter_of(options)
    if wanted.status in ORDERS:
        chosen = queries.of_status(wanted.status) & wanted.everything
        if wanted.status == Status.DEAD:
            chosen &= Q(died_at__isnull=False)
        if before:
            chosen &= Q(pk__lt=before)
        jobs = Job.objects.prefetch_related(*queries.RELATED).filter(chosen).order_by(ORDERS[wanted.status])
        found = list(jobs[: limit + 1])
        more = f"More jobs match; --limit N shows more than {limit}." if len(found) > limit else ""
        return [job for job in found[:limit] if queries.is_whole(job)], more
    page = listing.page(wanted.others, limit, before=before, **wanted.listed)
    return page.jobs, f"Older jobs may match: --before {page.before}" if page.before else ""


def _row(job: JobRow) -> list[object]:
    return [
        job.pk,
        job_view.state(job),
        job.tenant.jobs_slug,
        job.queue.name,
        job.priority,
        job.user_key or None,
        listing.call(job),
        job.attempt,
        moment(job.created_at),
        length(job_view.age(job)),
        length(job_view.waited(job)),
        length(job_view.ran(job)),
    ]


def _due_row(job: JobRow) -> list[object]:
    held = job_view.is_held(job)
    return [
        job.pk,
        job_view.state(job),
        job.tenant.jobs_slug,
        job.queue.name,
        listing.call(job),
        job.attempt,
        None if held else moment(job.due_at),
        None if held else length(job_view.due_in(job)),
    ]


def _failed_row(job: JobRow) -> list[object]:
    error = " ".join(job.last_error.split())
    return [
        job.pk,
        job_view.state(job),
        job.tenant.jobs_slug,
        job.queue.name,
        listing.call(job),
        job.attempt,
        moment(job.end_time),
        length(job_view.ended_ago(job)),
        error or None,
    ]


LIST = Subcommand("list", "List jobs of all tenants, newest first; dead letters: --status dead.", arguments, run)
