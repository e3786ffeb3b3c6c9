"""Show a job on the command line: as a JSON object, and in the cells of a table."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from jobs.console.cli.screen import length
from jobs.models import AnyFailedAttempt, JobRow
from jobs.reading import listing

PLAIN = (
    *("id", "status", "source_type", "source_id", "source_method", "args", "priority", "timeout"),
    *("attempt", "retries", "max_retries", "crashes", "handed_back", "handed_back_why", "sequence"),
    *("created_at", "ready_at", "expires_at", "queued_at", "start_time", "end_time", "cancel_requested_at"),
    *("progress", "progress_note", "stats", "last_error", "reason"),
)


def as_json(job: JobRow) -> dict[str, Any]:
    """Return the job with stable keys; moments are ISO 8601, durations are seconds."""
    return {name: getattr(job, name) for name in PLAIN} | {
        "tenant": job.tenant.jobs_slug,
        "queue": job.queue.name,
        "user": job.user_key,
        "held": job.is_held,
        "due_at": due_at(job),
    }


def waited(job: JobRow) -> str | None:
    """Return the time from when it was ready to its (last) start, or to now if it has not started."""
    return length(listing.waited(job, timezone.now()))


def parts_of_wait(job: JobRow) -> str | None:
    """Return that time, and for what it waited."""
    words = listing.wait_in_words(job)
    return f"{waited(job)}: {words}" if words else waited(job)


def ran(job: JobRow | AnyFailedAttempt) -> str | None:
    """Return the time from its (last) start to its end, or to now if it has not ended."""
    return length(listing.ran(job, timezone.now()))


def age(job: JobRow) -> timedelta:
    """Return the time since it was submitted."""
    return _now(job.created_at) - job.created_at


def ended_ago(job: JobRow) -> timedelta | None:
    """Return the time since it ended; None before that."""
    return None if job.end_time is None else _now(job.end_time) - job.end_time


def due_at(job: JobRow) -> datetime | None:
    """Return the moment at which it is due; None if it is held, or waits for no moment."""
    return None if job.is_held else job.due_at


def due_in(job: JobRow) -> timedelta | None:
    """Return the time until it is due; 0 if it is late."""
    due = due_at(job)
    return None if due is None else max(due - timezone.now(), timedelta(0))


def _now(at_least: datetime) -> datetime:
    # `at_least` is by the clock of the database, `now` by that of this host. They may differ a little: never below 0.
    return max(timezone.now(), at_least)
