"""The tasks that may run as jobs, and their results, read from their jobs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from traceback import format_exception
from typing import Any

from django.core.signing import BadSignature, Signer

from jobs.calls import functions
from jobs.calls.refusals import InvalidRequest
from jobs.contrib.django_tasks.endings import ENDINGS
from jobs.contrib.django_tasks.interface import (
    AnyResult,
    AnyTask,
    TaskError,
    TaskResult,
    TaskResultDoesNotExist,
    TaskResultStatus,
)
from jobs.engine.submitting.submit import Submitted
from jobs.lifecycle import Status
from jobs.models import AnyFailedAttempt, AnyJob
from jobs.reading import queries
from jobs.store import results as kept

TASKS: dict[tuple[str, str], AnyTask] = {}  # by the module and the name of their functions, as they were first declared
STATUSES = {
    Status.RUNNING: TaskResultStatus.RUNNING,
    Status.SUCCESS: TaskResultStatus.SUCCESSFUL,
    Status.ERROR: TaskResultStatus.FAILED,
    Status.DEAD: TaskResultStatus.FAILED,
    Status.CANCELLED: TaskResultStatus.FAILED,
}  # the others are READY

# Ids of jobs can be guessed, and Django's interface asks for a result without a tenant. So the id is signed.
_signer = Signer(salt="jobs.contrib.django_tasks")


def enqueued(
    task: AnyTask, backend: str, submitted: Submitted, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> AnyResult:
    """Return the result of a task that was just stored."""
    return TaskResult(
        task=task,
        id=_signer.sign(str(submitted.id)),
        status=TaskResultStatus.READY,
        enqueued_at=submitted.created_at,
        started_at=None,
        finished_at=None,
        last_attempted_at=None,
        args=list(args),
        kwargs=dict(kwargs),
        backend=backend,
        errors=[],
        worker_ids=[],
    )


def load(result_id: str, backend: str) -> AnyResult:
    """Return the result of that id. Raises TaskResultDoesNotExist for an id of no task, or of a deleted job."""
    try:
        job_id = int(_signer.unsign(result_id))
    except (BadSignature, ValueError, TypeError):
        raise TaskResultDoesNotExist(result_id) from None
    job = queries.any_job(job_id)
    task = None if job is None else _task(job)
    if job is None or task is None:
        raise TaskResultDoesNotExist(result_id)
    return _read(job, task, backend)


def running(job_id: int, backend: str) -> AnyResult:
    """Return the result of the task that runs as this job."""
    return load(_signer.sign(str(job_id)), backend)


def error_of(error: BaseException) -> TaskError:
    path = f"{type(error).__module__}.{type(error).__qualname__}"
    return TaskError(exception_class_path=path, traceback="".join(format_exception(error)))


def _read(job: AnyJob, task: AnyTask, backend: str) -> AnyResult:
    failures = queries.failed_attempts(job) if _ended_badly(job) else []
    result: AnyResult = TaskResult(
        task=task,
        id=_signer.sign(str(job.pk)),
        status=STATUSES.get(Status(job.status), TaskResultStatus.READY),
        enqueued_at=job.created_at,
        started_at=failures[0].start_time if failures else job.start_time,
        finished_at=job.end_time,
        last_attempted_at=job.start_time or (failures[-1].start_time if failures else None),
        args=job.args.get("args", []),
        kwargs=job.args.get("kwargs", {}),
        backend=backend,
        errors=[_error(failure) for failure in failures],
        worker_ids=_workers(job, failures),
    )
    if job.status == Status.SUCCESS and (result_value := kept.load(job)) is not None:
        object.__setattr__(result, "_return_value", result_value.value)
    return result


def _task(job: AnyJob) -> AnyTask | None:
    """Return the task of a job, with the options with which it was enqueued; None if the job has no task."""
    try:
        functions.find(job.source_type, job.source_method, of_a_job=True)  # its module may have to be imported
    except InvalidRequest:
        return None
    declared = TASKS.get((job.source_type, job.source_method))
    if declared is None:
        return None
    run_after = job.args.get("run_after")
    options = {
        "queue_name": job.queue.name,
        "priority": job.args.get("priority", 0),
        "run_after": datetime.fromisoformat(run_after) if run_after else None,
    }
    # `using`, and from Django 6.1 on `copy`, would refuse a queue that the settings named at that time, but not today.
    task: AnyTask = object.__new__(type(declared))
    for field in fields(declared):
        object.__setattr__(task, field.name, options.get(field.name, getattr(declared, field.name)))
    return task


def _ended_badly(job: AnyJob) -> int:
    """Return how many of its attempts may have failed: all but the one that waits, runs or has succeeded."""
    return job.attempt - (job.status in (Status.QUEUED, Status.RUNNING, Status.SUCCESS))


def _workers(job: AnyJob, failures: Sequence[AnyFailedAttempt]) -> list[str]:
    """Return the worker of each attempt; a queued job has not begun its last one."""
    of_failed = {failure.attempt: failure.worker for failure in failures}
    begun = job.attempt - (job.status == Status.QUEUED)
    return [str(of_failed.get(number) or job.worker or "") for number in range(1, begun + 1)]


def _path(failure: AnyFailedAttempt) -> str:
    """Return the path of the error's class, from the last line of the traceback that has its name."""
    paths = re.findall(rf"^((?:\w+\.)*){re.escape(failure.error_class)}(?::|$)", failure.traceback, re.MULTILINE)
    if not paths and (ending := ENDINGS.get(failure.error_class)):
        return f"{ending.__module__}.{ending.__qualname__}"
    return f"{paths[-1] if paths and paths[-1] else 'builtins.'}{failure.error_class}"


def _error(failure: AnyFailedAttempt) -> TaskError:
    """Return the error of an attempt; its one line without a traceback, such as of a process that died."""
    line = f"{failure.error_class}: {failure.error}\n"
    return TaskError(exception_class_path=_path(failure), traceback=failure.traceback or line)
