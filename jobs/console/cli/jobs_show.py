"""`manage.py jobs show` and `explain`: show one job, and explain its state."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from jobs.console.cli import inputs, job_view
from jobs.console.cli.screen import Column, Screen, length, utc
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.remedies import remedy
from jobs.models import AnyJob, Job
from jobs.pages.prediction_accuracy import accuracy_for
from jobs.reading import blocks, listing, queries
from jobs.reading.explain.explanation import Explanation, explain
from jobs.reading.explain.reads import MAX_COUNTED_PLACE
from jobs.reading.handed_back import in_words
from jobs.reading.predictor import starts
from jobs.reading.revivals import revivals
from jobs.reading.starts import Starts
from jobs.store import EVERY_TENANT, results

LONGEST_RESULT = 1_000  # characters of a result that a terminal shows
ATTEMPT = ("attempt", "error_class", "error", "traceback", "queued_at", "start_time", "end_time")


FAILED = [
    Column("TRY", "attempt", right=True),
    Column("ENDED (UTC)", "end_time"),
    Column("RAN", job_view.ran, right=True),
    Column("ERROR", lambda failed: f"{failed.error_class}: {' '.join(failed.error.split())}", flexible=True),
]


def show(options: Options, screen: Screen) -> None:
    job = inputs.job_numbered(options["id"])
    attempts, blocked = queries.failed_attempts(job), blocks.of_job(job.pk)
    kept = results.load(job)
    prediction, revived = starts([job]).get(job.pk), revivals(job.pk)
    screen.document(
        job_view.as_json(job)
        | {
            "failed_attempts": [{name: getattr(failed, name) for name in ATTEMPT} for failed in attempts],
            "revivals": [asdict(revival) for revival in revived],
            "blocked_loops": [asdict(block) for block in blocked],
            "starts": prediction and asdict(prediction),
            "result_kept": kept is not None,
            "result": kept.value if kept else None,
        }
    )
    starting = {"starts": _starts(prediction), "how sure": accuracy_for(prediction)}
    by = {"revived": "; ".join(f"{utc(one.at)} by {one.who}" for one in revived) or None}
    screen.facts(_facts(job) | by | starting | {"result": _short(kept.value) if kept else None})
    if attempts:
        screen.say("")
        screen.table(FAILED, attempts)
    for block in blocked:
        screen.say(f"{block.sentence}, at {block.place}." if block.place else f"{block.sentence}.")


def _starts(prediction: Starts | None) -> str | None:
    if prediction is None:
        return None
    if prediction.p50 is not None:
        return f"about {utc(prediction.p50)}" + (f", with 90 % by {utc(prediction.p90)}" if prediction.p90 else "")
    if prediction.not_before is not None:
        return f"unlikely before {utc(prediction.not_before)}: {prediction.in_words}"
    return f"unknown: {prediction.in_words or prediction.reason}"


def _facts(job: AnyJob) -> dict[str, object]:
    progress = None if job.progress is None else f"{job.progress:.0%} {job.progress_note}"
    return {
        "job": job.pk,
        "status": listing.state(job),
        "tenant": job.tenant.jobs_slug,
        "call": listing.call(job),
        "args": "erased" if job.is_erased else _short(job.args),
        "queue": f"{job.queue.name}, priority {job.priority}",
        "user": job.user_key,
        "sequence": job.sequence,
        "attempt": f"{job.attempt}, retries {job.retries}, crashes {job.crashes}",
        "handed back": in_words(job) or None,
        "checkpoint": None if job.cursor is None else "the next attempt goes on from there",
        "submitted": job.created_at,
        "due": job_view.due_at(job),
        "queued": job.queued_at,
        "started": job.start_time,
        "ended": job.end_time,
        "waited" if job.attempt <= 1 else f"waited, attempt {job.attempt}": job_view.parts_of_wait(job),
        "ran": job_view.ran(job),
        "to stop since": job.cancel_requested_at if job.end_time is None else None,
        "progress": progress,
        "stats": _short(job.stats) if job.stats else None,
        "last error": job.last_error,
    }


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= LONGEST_RESULT:
        return text
    return f"{text[:LONGEST_RESULT]}… ({len(text):,} characters; --json shows all)"


def tell(options: Options, screen: Screen) -> None:
    job = inputs.job_numbered(options["id"] or _newest_waiting())
    # It may be deleted between the two queries.
    explanation = inputs.existing(explain(job.pk, tenant_id=EVERY_TENANT), f"id: there is no job {job.pk}")
    screen.document(asdict(explanation))
    screen.say(explanation.sentence)
    screen.facts(
        {
            "job": f"{job.pk}, {listing.call(job)}",
            "tenant": job.tenant.jobs_slug,
            "queue": job.queue.name,
            "status": explanation.status,
            "gate": explanation.gate.replace("_", " "),
            "in line since" if explanation.place else "since": _since(explanation),
            "opens": explanation.opens_at,
            "also": ", ".join(gate.replace("_", " ") for gate in explanation.also),
            "place": _place(explanation),
            "competes with": _competitors(explanation),
            "to change it": remedy(explanation.gate, job),
        }
    )


def _newest_waiting() -> int:
    """Return the id of the newest job in line; else of one that waits for a moment, a person or other jobs.

    Raises CommandError if no job waits.
    """
    for witness in ("ready_at", "due_at", "blocked_at"):
        waiting = Job.objects.filter(**{f"{witness}__isnull": False})
        if newest := waiting.order_by("-pk").values_list("pk", flat=True).first():
            return int(newest)
    raise CommandError("id: no job is waiting; give the id of a job")


def _since(why: Explanation) -> str | None:
    return None if why.since is None else f"{utc(why.since)} ({length(why.now - why.since)})"


def _place(why: Explanation) -> str | None:
    if why.place is None:
        return None
    if why.place <= MAX_COUNTED_PLACE:
        return f"{why.place:,} in its lane"
    return f"behind more than {MAX_COUNTED_PLACE:,} jobs of its lane"


def _competitors(why: Explanation) -> str:
    sorts = (("tenants", why.tenants), ("queues", why.queues))
    return "; ".join(f"{sort} {', '.join(names)}" for sort, names in sorts if names)


ID = argument("id", type=inputs.job_id)
WAITING = argument("id", type=inputs.job_id, nargs="?", help="Default: the newest waiting job.")
SHOW = Subcommand("show", "Show a job: its times, failed attempts and result.", (ID,), show)
EXPLAIN = Subcommand("explain", "Explain which gate holds a job, and its place in its lane.", (WAITING,), tell)
