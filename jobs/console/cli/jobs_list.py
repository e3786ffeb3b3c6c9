"""`manage.py jobs list`: newest first; scheduled jobs by due moment; dead letters by latest death."""

from collections.abc import Sequence

from django.db.models import Q

from jobs.console.cli import inputs, job_view, searching
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.lifecycle import Status
from jobs.models import Job, JobRow
from jobs.reading import listing, queries

# These statuses have an order and an index of their own.
ORDERS = {Status.SCHEDULED: "due_at", Status.DEAD: "-died_at"}
MAX_LISTED = 10_000

ID = Column("ID", "pk", right=True)
STATUS = Column("STATUS", listing.state)
TENANT = Column("TENANT", "tenant.jobs_slug", flexible=True)
CALL = Column("CALL", listing.call, flexible=True, tail=True)
COLUMNS = [
    *(ID, STATUS, TENANT),
    Column("QUEUE", "queue.name", flexible=True, wide=True),
    Column("PRIO", "priority", right=True, wide=True),
    Column("USER", "user_key", wide=True),
    CALL,
    Column("TRY", "attempt", right=True, wide=True),
    Column("SUBMITTED (UTC)", "created_at", wide=True),
    Column("AGE", job_view.age, right=True),
    Column("WAITED", job_view.waited, right=True),
    Column("RAN", job_view.ran, right=True),
]
DUE_COLUMNS = [
    *(ID, STATUS, TENANT),
    Column("QUEUE", "queue.name", flexible=True),
    CALL,
    Column("TRY", "attempt", right=True),
    Column("DUE (UTC)", job_view.due_at, wide=True),
    Column("DUE IN", job_view.due_in, right=True),
]
FAILED_COLUMNS = [
    ID,
    Column("STATUS", listing.state, wide=True),
    TENANT,
    Column("QUEUE", "queue.name", wide=True, flexible=True),
    CALL,
    Column("TRY", "attempt", right=True),
    Column("ENDED (UTC)", "end_time", wide=True),
    Column("AGO", job_view.ended_ago, right=True),
    Column("LAST ERROR", lambda job: " ".join(job.last_error.split()), flexible=True),
]
ARGUMENTS = (
    *searching.OPTIONS,
    argument(
        "--before",
        type=inputs.job_id,
        metavar="ID",
        help="Only jobs with a lower id: the next page. A page looks at 10,000 jobs.",
    ),
    inputs.limit(20, MAX_LISTED),
)


def run(options: Options, screen: Screen) -> None:
    jobs, more = _selected(options)
    screen.document({"jobs": [job_view.as_json(job) for job in jobs], "more": bool(more)})
    columns = DUE_COLUMNS if options["status"] == Status.SCHEDULED else COLUMNS
    if options["error"] or options["status"] in {Status.DEAD, Status.ERROR}:
        columns = FAILED_COLUMNS
    screen.table(columns, jobs, none="" if more else "No jobs match.")
    if more:
        screen.say(more)


def _selected(options: Options) -> tuple[Sequence[JobRow], str]:
    """Return the jobs, and how to see more of them; "" if these are all."""
    limit, before, wanted = options["limit"], options["before"], searching.filter_of(options)
    if wanted.status in ORDERS:
        chosen = queries.of_status(wanted.status) & wanted.owned & wanted.others
        if wanted.status == Status.DEAD:
            chosen &= Q(died_at__isnull=False)
        if before:
            chosen &= Q(pk__lt=before)
        jobs = Job.objects.prefetch_related(*queries.RELATED).filter(chosen).order_by(ORDERS[wanted.status])
        rows, has_more = inputs.first(jobs, options)
        more = f"More jobs match; --limit N shows more than {limit}." if has_more else ""
        return [job for job in rows if queries.is_whole(job)], more
    page = listing.page(wanted, limit, before=before)
    return page.jobs, f"Older jobs may match: --before {page.before}" if page.before else ""


LIST = Subcommand("list", "List jobs of all tenants, newest first; dead letters: --status dead.", ARGUMENTS, run)
