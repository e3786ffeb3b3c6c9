"""Run the body of one attempt: find the method or function, and call it on the tenant's object."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from functools import partial
from typing import Any

from django.db import Error
from django.db.models import Manager, Model
from django.utils.functional import SimpleLazyObject
from django.utils.module_loading import import_string

from jobs import store
from jobs.authoring import current
from jobs.authoring.decorator import FAILED
from jobs.authoring.events import ToldEvent
from jobs.authoring.memory import MISSING
from jobs.calls import registry, sources
from jobs.calls.arguments import stats_as_json
from jobs.calls.queries import Make
from jobs.calls.refusals import InvalidRequest, UnknownTarget
from jobs.calls.registry import Target
from jobs.conf import settings
from jobs.engine.attempt import coroutines, process_state
from jobs.engine.attempt.captured_output import PAUSE, listening
from jobs.engine.attempt.checkpoints import StoredCheckpoints
from jobs.engine.attempt.memory import Remembering, StoredMemory
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.attempt.own_end import OwnEnd
from jobs.engine.process import user_code
from jobs.engine.process.ask import ask
from jobs.engine.process.host import AttemptHost
from jobs.engine.process.patience import DATABASE_PATIENCE, patiently
from jobs.engine.submitting.batches import batch_of
from jobs.lifecycle import Status
from jobs.models import AnyJob, Batch, Job
from jobs.store import Started, results
from plumbing.connections import drop_cut_connections
from tenants.tenant_model import all_tenants

Found = tuple[current.CurrentJob, Target, Model | None]


class SourceGone(Exception):
    """The job's object no longer exists, or no longer belongs to its tenant, or its model's manager hides it."""


class UnknownJobType(InvalidRequest):
    """This worker does not know the job's type, so its body has not begun; another worker may know it."""


class StillAway(Exception):
    """The database was away for too long, and this process gave up before the body began. Another process runs it."""


def run(job: Started, host: AttemptHost) -> Outcome:
    """Run the body; return its outcome. Every exception of the body is an outcome, even SystemExit.

    Raises StillAway.
    """
    outcome, ask = Outcome(), user_code.Here(job, host)
    host.process.reset_peak()
    # The time limit is for the body alone: not for the wait for PostgreSQL, nor for the manager of the model.
    look = partial(_look, job, outcome, host)
    found = ask.within(job.timeout + DATABASE_PATIENCE, look, late="not found within")
    if isinstance(found.error, StillAway):
        raise found.error
    outcome.error = found.error
    if outcome.error is None:  # imports of the look-up may have changed the process; those changes stay
        with process_state.as_it_was() as outcome.refusals:
            call, silence = partial(_call, job, outcome, host, found.value), found.value[1].spec.silence
            outcome.error = ask.within(job.timeout, call, silence=silence).error
    if outcome.error is not None:  # stats that are not JSON must not hide the error
        outcome.stats = ask(partial(stats_as_json, outcome.stats)).value or {}
    if not outcome.has_ended:
        outcome.peak_memory = host.process.peak_memory()
    outcome.leave_out_the_rest(job)
    return outcome


def _look(job: Started, outcome: Outcome, host: AttemptHost) -> Found:
    drop_cut_connections()  # a restart may have cut them since the last body: nothing else would notice it
    return find(job, target_of(job), outcome, host)


def target_of(job: Started) -> Target:
    """Return the code of a job. Raises UnknownJobType."""
    try:
        return registry.resolve(job.source_type, job.source_method, of_a_job=True)
    except UnknownTarget as refused:
        why = f"{refused.message}; if the code is newer than this worker, restart this worker"
        raise UnknownJobType(refused.field, why) from refused


def find(job: Started, target: Target, outcome: Outcome, host: AttemptHost, make: Make | None = None) -> Found:
    """Make this job the current one; return it, its code and its object.

    make: makes the object, if it was found together with others.

    If the objects are in the database of the jobs, wait while that is away, as with an outcome: no body has begun.
    """
    running = _enter(job, target, outcome, host)
    if target.class_level:
        return running, target, None
    if make is not None:
        return running, target, make()
    look = partial(_find_object, running, target, job)
    try:
        instance = patiently(look) if sources.is_beside_jobs(target) else look()
    except Error as error:
        if store.may_pass(error) and sources.is_beside_jobs(target):
            raise StillAway from error
        raise
    if instance is None:
        gone = f"{job.source_type} {job.source_id} is gone, or is another tenant's"
        own_manager = target.model is not None and type(target.model._default_manager) is not Manager
        hidden = ", or hidden: the default manager of its model does not find it" if own_manager else ""
        raise SourceGone(gone + hidden)
    return running, target, instance


def _find_object(running: current.CurrentJob, target: Target, job: Started) -> Model | None:
    with around(running):
        return sources.find(target, job.source_id, job.tenant_id, of_a_job=True)


def around(running: current.CurrentJob) -> AbstractContextManager[object]:
    """Return the context of the project (JOBS_AROUND) for a body, and for the look-up of its object.

    It sets for example a schema, a scope or a row level policy of the tenant.
    """
    path = settings.JOBS_AROUND
    return import_string(path)(running) if path else nullcontext()


def _enter(job: Started, target: Target, outcome: Outcome, host: AttemptHost) -> current.CurrentJob:
    """Make this job the `current_job()` from now on, and return it."""
    held = (job.id, job.attempt, job.holder)
    memory, outcome.checkpoints = StoredMemory(Remembering(*held)), StoredCheckpoints(job, host, outcome.units)
    running = current.CurrentJob(
        id=job.id,
        attempt=job.attempt,
        tenant=SimpleLazyObject(lambda: ask(lambda: all_tenants().get(pk=job.tenant_id))),  # type: ignore[arg-type]
        timeout=job.timeout,
        event=_event_of(job),
        stats=outcome.stats,
        units=outcome.units,
        memory=memory,
        object_memory=memory if target.class_level else StoredMemory(Remembering(*held, of_object=True)),
        checkpoints=outcome.checkpoints,
        report_progress=partial(_progress, job, outcome, host),
        note_told=host.hear,
        find_batch=partial(ask, partial(batch_of, job.id)),
        find_results=partial(ask, partial(_results_of, job.id)),
        end_in_block=OwnEnd(job, outcome, host),
        ask_cancelled=partial(host.aside, store.cancel_requested, *held),
    )
    current.enter(running)
    return running


def _event_of(job: Started) -> ToldEvent | None:
    if job.event is None:
        return None
    told = json.loads(job.event)
    return ToldEvent(told["name"], told["payload"], datetime.fromisoformat(told["told_at"]))


def _progress(job: Started, outcome: Outcome, host: AttemptHost, fraction: float, note: str) -> object:
    return host.aside(store.progress, job.id, job.attempt, job.holder, fraction, note, outcome.units.sums())


def _call(job: Started, outcome: Outcome, host: AttemptHost, found: Found) -> None:
    running, target, instance = found
    take_options(job, outcome, running, target)
    with running.here(), _listened(job, outcome, host, target), around(running), host.process.of_a_body():
        returned = target.on(instance)(**job.args)
        value = coroutines.run(returned, job.id, host, outcome.left) if target.is_async else returned
        outcome.write_down(value)  # here, inside the time limit and with the body's sessions


@contextmanager
def _listened(job: Started, outcome: Outcome, host: AttemptHost, target: Target) -> Iterator[None]:
    """Listen to the body inside the block, and store its log while it grows, if its job type asks for a log."""
    if not target.spec.log:
        yield
        return
    with listening() as outcome.log:
        host.process.beside_a_body(partial(outcome.keep_log_so_far, job), PAUSE, outcome.log.over)
        yield


def take_options(job: Started, outcome: Outcome, running: current.CurrentJob, target: Target) -> None:
    """Take what the job type asks of the end of an attempt: how long its result is kept, and its failure hook."""
    outcome.result_ttl = target.spec.result_ttl
    if failed := getattr(target.function, FAILED, None):
        outcome.tell = partial(_tell, failed, job, outcome, running)


def _tell(
    failed: Callable[..., object], job: Started, outcome: Outcome, running: current.CurrentJob, verb: str
) -> None:
    """Call the failure hook after the settling, as a part of the job, in its tenant's scope."""
    current.enter(running)
    with around(running):
        failed(verb, outcome.error, **job.args)


def _results_of(job_id: int) -> dict[int, Any]:
    """Return the results of a job's predecessors by job id; a batch stands for its jobs. MISSING: there is none."""
    ids = Job.objects.filter(pk=job_id).values_list("predecessors", flat=True).first() or []
    batches = set(Batch.objects.filter(pk__in=ids).values_list("pk", flat=True))
    jobs = AnyJob.objects.only("status", "tenant_id", "attempt", "start_time", "result_bytes", "result_expires_at")
    rows = jobs.in_bulk(ids) | {row.pk: row for row in jobs.filter(batch_id__in=batches)}
    ended = {one for one, row in rows.items() if row.status == Status.SUCCESS}
    kept = {one: results.load(rows[one]) if one in ended else None for one in sorted({*ids, *rows} - batches)}
    return {one: MISSING if result is None else result.value for one, result in kept.items()}
