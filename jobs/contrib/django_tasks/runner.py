"""The job of a task: a function with the name of the task's function, which calls it. An async task is a coroutine."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from inspect import iscoroutinefunction
from time import monotonic
from typing import Any

from jobs.authoring.current import current_job
from jobs.authoring.decorator import FUNCTIONS, STANDS_IN, job
from jobs.authoring.exceptions import Cancelled, HandedBack, RetryLater
from jobs.authoring.groups import means
from jobs.authoring.in_thread import in_thread
from jobs.contrib.django_tasks import results
from jobs.contrib.django_tasks.interface import (
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

    run = _async_body(named) if iscoroutinefunction(task.func) else _body(named)
    run.__module__, run.__qualname__ = named
    run.__name__ = task.func.__name__
    setattr(run, STANDS_IN, True)
    job(dedup=False)(run)


def _body(named: tuple[str, str]) -> Callable[..., Any]:
    def run(*, args: list[Any], kwargs: dict[str, Any], **_: Any) -> Any:
        return _run(TASKS[named], args, kwargs)

    return run


def _async_body(named: tuple[str, str]) -> Callable[..., Any]:
    async def run(*, args: list[Any], kwargs: dict[str, Any], **_: Any) -> Any:
        return await _arun(TASKS[named], args, kwargs)

    return run


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
    attempt = _Attempt(task)
    try:
        value = normalize_json(task.call(*attempt.context(), *args, **kwargs))
    except BaseException as error:
        attempt.fail(error)
        raise
    return attempt.succeed(value)


async def _arun(task: AnyTask, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
    attempt = await in_thread(_Attempt, task)  # receivers of the signals may use the database
    try:
        value = normalize_json(await task.acall(*attempt.context(), *args, **kwargs))
    except BaseException as error:
        await in_thread(attempt.fail, error)
        raise
    return await in_thread(attempt.succeed, value)


class _Attempt:
    """An attempt at a task: it sends the signals of its start and of its end."""

    def __init__(self, task: AnyTask) -> None:
        job_id = current_job().id
        assert job_id is not None  # noqa: S101 - for the type checker: only jobs run this
        self._result = results.running(job_id, task.backend)
        self._sender, self._takes_context = type(task.get_backend()), task.takes_context
        self._begun = monotonic()
        task_started.send(sender=self._sender, task_result=self._result)

    def context(self) -> tuple[Any, ...]:
        return (TaskContext(task_result=self._result),) if self._takes_context else ()

    def fail(self, error: BaseException) -> None:
        if any(means(error, kind) for kind in (RetryLater, HandedBack, Cancelled, KeyboardInterrupt)):
            return  # the task has not finished, or not by itself
        self._result.errors.append(results.error_of(error))
        self._finish(TaskResultStatus.FAILED)

    def succeed(self, value: Any) -> Any:
        object.__setattr__(self._result, "_return_value", value)
        self._finish(TaskResultStatus.SUCCESSFUL)
        return value

    def _finish(self, status: TaskResultStatus) -> None:
        """End the result, so many seconds after the start of its attempt by the database's clock, and tell about it."""
        begun, seconds = self._result.last_attempted_at, monotonic() - self._begun
        object.__setattr__(self._result, "status", status)  # it is frozen; Django's own backends do the same
        object.__setattr__(self._result, "finished_at", begun and begun + timedelta(seconds=seconds))
        task_finished.send(sender=self._sender, task_result=self._result)
