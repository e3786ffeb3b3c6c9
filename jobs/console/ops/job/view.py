"""The page of a job: why it waits or how it ended, its attempts, its arguments, and the actions on it."""

from collections.abc import Mapping
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse

from jobs.calls.registry import spec_of
from jobs.conf import settings
from jobs.console.ops.shared import live
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done, refused
from jobs.console.remedies import remedy, switch_for
from jobs.engine.verbs.stack import ask_for_stack
from jobs.lifecycle import FINAL, Status
from jobs.models import NEIGHBOUR_ENDED, AnyJob, JobRow, Worker
from jobs.pages import job as job_page
from jobs.pages.prediction_accuracy import keep
from jobs.reading import blocks, listing, queries, stacks
from jobs.reading.explain.explanation import explain
from jobs.reading.handed_back import in_words
from jobs.store import EVERY_TENANT, results
from jobs.telemetry import traces
from plumbing.names import named
from plumbing.text import duration

MAX_RESULT = 64 * 1024  # bytes of a result that are shown
MAX_LOGS = 3  # attempts
MOMENTS = (
    ("submitted", "created_at"),
    ("due", "due_at"),
    ("ready", "ready_at"),
    ("queued", "queued_at"),
    ("started", "start_time"),
    ("asked to stop", "cancel_requested_at"),
    ("to start by", "expires_at"),
    ("ended", "end_time"),
    ("died", "died_at"),
    ("result kept until", "result_expires_at"),
)


@page_for("jobs.view_job")
def show(request: HttpRequest, pk: int) -> HttpResponse:
    job = queries.any_job(pk)
    why = explain(pk, tenant_id=EVERY_TENANT) if job else None
    if job is None or why is None:
        raise Http404(f"There is no job {pk}. The highest id is {listing.newest()}.")
    trace = traces.trace_of(job.trace_parent)
    is_kept = job.result_expires_at is not None and job.result_expires_at > why.now
    is_large = (job.result_bytes or 0) > MAX_RESULT
    sees_changes = request.user.has_perm(named("tenants.view_change"))
    page = job_page.job_context(
        request,
        job,
        why,
        MOMENTS,
        error=lambda failure: f"{failure.error_class}: {failure.error}",
        who=lambda change: change.who if sees_changes else "",
    )
    rows = page["attempts"].rows
    failures = [row.failure for row in rows if row.failure]
    ids = {job.worker, *(row.worker for row in rows)} - {None}
    workers = dict(Worker.objects.filter(pk__in=ids).values_list("pk", "name")) if ids else {}
    context = {
        **page,
        "workers": workers,
        "handed_back": in_words(job),
        "tracebacks": [failure for failure in failures if failure.traceback],
        "remedy": remedy(why.gate, job),
        "switch": switch_for(request, why.gate, job),
        "way": way(job),
        "like_it": like_it(job),
        "trace": trace,
        "trace_url": trace and settings.JOBS_TRACE_URL.replace("{trace_id}", trace),
        "logs": queries.logs(job, MAX_LOGS),
        "blocks": blocks.of_job(pk),
        "stacks": [(stack, stacks.said(stack, why.now)) for stack in stacks.of_job(pk)],
        "neighbour_ended": NEIGHBOUR_ENDED,
        "facts": _facts(job, workers),
        "is_dead": job.status == Status.DEAD,
        "result": results.load(job) if is_kept and not is_large else None,
        "result_is_large": is_kept and is_large,
    }
    regions = ("head", "why", "stacks", "attempts", "logs", "failures", "facts")
    every = live.REFRESH_SECONDS if context["may_cancel"] else 0
    return keep(live.page(request, "job", f"Job {pk}", regions, context, every=every), request, job, context["starts"])


@action_for("jobs.change_job")
def ask(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the worker of a running job for the stack of its body."""
    if ask_for_stack(pk) is None:
        return refused(request, f"Job {pk} does not run; only a running job has a stack.")
    return done(request, f"Asked for the stack of job {pk}. Its worker answers within a second or two.")


def _facts(job: AnyJob, workers: Mapping[UUID, str]) -> list[tuple[str, str]]:
    """Return the names and values of the facts that the job has.

    workers: the names of the workers that have run its attempts.
    """
    spec = spec_of(job.source_type, job.source_method)
    most = "" if job.max_retries is None else f" of {job.max_retries}"
    found = {
        "Attempt": str(job.attempt),
        "Waited": listing.wait_in_words(job),
        "Retries": f"{job.retries}{most}",
        "Crashes": str(job.crashes),
        "Handed back": in_words(job),
        "Checkpoint": "the next attempt goes on from there" if job.cursor is not None else None,
        "Slot": job.slot and str(job.slot),
        "Timeout": job.timeout and duration(job.timeout),
        "Silence": spec and spec.silence and duration(spec.silence),
        "Memory": job.memory and f"{job.memory:,} MiB",
        "Peak memory": job.peak_memory and f"{job.peak_memory:,} MiB",
        "Worker": job.worker and workers.get(job.worker),
        "Result": None if job.result_bytes is None else f"{job.result_bytes:,} bytes",
    }
    return [(name, value) for name, value in found.items() if value]


def way(job: JobRow) -> list[tuple[str, bool, bool]]:
    """Return the statuses on the way of a job: name, whether it was there, whether it is there now.

    The last one is its end; it is called "ends" while the job has not ended.
    """
    claimed, is_blocked = job.attempt > 0, job.status == Status.BLOCKED
    again = claimed and job.status in (Status.SCHEDULED, Status.CREATED)
    been = {
        **({Status.BLOCKED: False} if is_blocked else {}),
        Status.SCHEDULED: again or job.retries > 0 or job.crashes > 0,
        Status.CREATED: claimed or job.waited_since is not None,
        Status.QUEUED: claimed,
        Status.RUNNING: job.start_time is not None,
    }
    ended = job.status in FINAL
    stops = [(status, passed or job.status == status, job.status == status) for status, passed in been.items()]
    return [*stops, (job.status if ended else "ends", ended, ended)]


def like_it(job: JobRow) -> list[tuple[str, str]]:
    """Return searches for similar jobs: what they have in common, and the words of the search."""
    tenant, kind = f"tenant:{job.tenant.jobs_slug}", f"type:{job.source_type}.{job.source_method}"
    error = job.last_error.partition(":")[0]
    found = [("same type and tenant", f"{tenant} {kind}")]
    if job.source_id is not None:
        found.insert(0, ("same object", f"{tenant} {kind} source:{job.source_id}"))
    if job.sequence is not None:
        found.append(("same sequence", f"{tenant} sequence:{job.sequence}"))
    if job.user_key:
        found.append(("same user", f"{tenant} user:{job.user_key}"))
    if error:
        found.append(("same error", f"error:{error} {kind}"))
    return [(name, words) for name, words in found if len(words.split()) == words.count(" ") + 1 == words.count(":")]
