"""The job of a task: a function with the name of the task's function, which calls it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from time import monotonic
from typing import Any

from jobs.authoring.current import current_job
from jobs.authoring.decorator import FUNCTIONS, STANDS_IN, job
from jobs.authoring.exceptions import Cancelled, RetryLater
from jobs.authoring.groups import means
from jobs.contrib.django_tasks import results
from jobs.contrib.django_tasks.interface import (
    AnyResult,
    AnyTask,
    InvalidTask,
    TaskContext,
    TaskResultStatus,
    normalize_json,
    task_finished,
    task_started,
)
from jobs.contrib.django_tasks.results import TASKS

LEVELS = 20  # of a task's priorities (-100 to 100, the highest first) become one of a job (0 to 10, the lowest first)


def declare(task: AnyTask) -> None:
    """Let the task's function run as a job. Raises InvalidTask if its name is taken by a job."""
    named = (task.func.__module__, task.func.__qualname__)
    if named in FUNCTIONS and named not in TASKS:
        raise InvalidTask(f"{task.module_path} is marked @job, so it cannot be a task, too")
    if named in TASKS and TASKS[named].func is task.func:
        return
    TASKS[named] = task

    def run(*, args: list[Any], kwargs: dict[str, Any], **_: Any) -> Any:
        return _run(TASKS[named], args, kwargs)

    run.__module__, run.__qualname__ = named
    run.__name__ = task.func.__name__
    setattr(run, STANDS_IN, True)
    job(dedup=False)(run)


def function_of(task: AnyTask) -> Callable[..., Any]:
    return FUNCTIONS[task.func.__module__, task.func.__qualname__]


def arguments(task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job's arguments: the task's, and the options that no column holds. Raises TypeError unless JSON."""
    held: dict[str, Any] = {"args": normalize_json(list(args)), "kwargs": normalize_json(dict(kwargs))}
    if task.priority:
        held["priority"] = task.priority
    if task.run_after is not None:
        held["run_after"] = task.run_after.isoformat()
    return held


def priority_of(task: AnyTask) -> int:
    """Return the job's priority: 0 for 100, 5 for 0, 10 for -100. Two that differ by 20 or more stay different."""
    return int(110 - task.priority) // LEVELS


def _run(task: AnyTask, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
    job_id = current_job().id
    assert job_id is not None  # noqa: S101 - for the type checker: only jobs run this
    result = results.running(job_id, task.backend)
    backend, begun = type(task.get_backend()), monotonic()
    task_started.send(sender=backend, task_result=result)
    try:
        value = normalize_json(task.call(*_context(task, result), *args, **kwargs))
    except BaseException as error:
        if any(means(error, kind) for kind in (RetryLater, Cancelled, KeyboardInterrupt)):
            raise  # the task has not finished, or not by itself
        _finish(result, TaskResultStatus.FAILED, monotonic() - begun)
        result.errors.append(results.error_of(error))
        task_finished.send(sender=backend, task_result=result)
        raise
    _finish(result, TaskResultStatus.SUCCESSFUL, monotonic() - begun)
    object.__setattr__(result, "_return_value", value)
    task_finished.send(sender=backend, task_result=result)
    return value


def _context(task: AnyTask, result: AnyResult) -> tuple[Any, ...]:
    return (TaskContext(task_result=result),) if task.takes_context else ()


def _finish(result: AnyResult, status: TaskResultStatus, seconds: float) -> None:
    """End the result, that many seconds after the start of its attempt by the database's clock."""
    begun = result.last_attempted_at
    object.__setattr__(result, "status", status)  # it is frozen; Django's own backends do the same
    object.__setattr__(result, "finished_at", begun and begun + timedelta(seconds=seconds))
