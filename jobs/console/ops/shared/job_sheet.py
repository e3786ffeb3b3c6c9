"""Answer with a list of jobs as a file for spreadsheets.

It is not streamed: MOST jobs are some 2 MB, and a stream would only hold a thread for as long as its reader is slow.
"""

from collections.abc import Iterable
from datetime import datetime

from django.http import HttpResponse

from jobs.models import JobRow
from jobs.reading import listing, queries
from plumbing import sheet
from plumbing.text import in_one_line

MOST = 10_000  # jobs of a file
HEAD = (
    *("id", "status", "tenant", "type", "object", "queue", "priority", "user", "attempt"),
    *("submitted", "started", "ended", "waited_seconds", "ran_seconds", "error"),
)


def file_of(name: str, jobs: Iterable[JobRow], now: datetime) -> HttpResponse:
    """Return the file `<name>.csv` with a line for each job whose tenant and queue exist. No cell is a formula."""
    lines = [sheet.line(HEAD), *(sheet.line(_cells(job, now)) for job in jobs if queries.is_whole(job))]
    text = "".join(f"{line}\r\n" for line in lines)
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)


def _cells(job: JobRow, now: datetime) -> list[object]:
    moments = (job.created_at, job.start_time, job.end_time)
    names = (job.tenant.jobs_slug, listing.job_type(job), job.source_id or "", job.queue.name)
    return [
        *(job.pk, listing.state(job), *names, job.priority, in_one_line(job.user_key), job.attempt),
        *("" if at is None else at.isoformat(timespec="seconds") for at in moments),
        *("" if length is None else round(length, 3) for length in (listing.waited(job, now), listing.ran(job, now))),
        in_one_line(job.last_error),
    ]
