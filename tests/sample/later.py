"""Tasks of Django, for the backend's tests: only they import this, since the package may be missing."""

import asyncio
from typing import Any

try:
    from django.tasks import TaskContext, task
except ImportError:
    from django_tasks import TaskContext, task

from jobs import RetryLater, current_job


@task()
def noop_task(*args: Any, **kwargs: Any) -> None:
    return None


@task
async def noop_task_async(*args: Any, **kwargs: Any) -> None:
    return None


@task
def add(a: int, *, b: int = 2) -> int:
    return a + b


@task(priority=40, queue_name="critical")
def urgent() -> str:
    return str(current_job().tenant)


@task
def failing_task_value_error() -> None:
    raise ValueError("This task failed due to ValueError")


@task
async def failing_task_async() -> None:
    raise ValueError("This task failed due to ValueError")


@task
def failing_task_system_exit() -> None:
    raise SystemExit("This task failed due to SystemExit")


@task
def ends_its_process() -> None:
    raise KeyboardInterrupt


@task
def failing_of_its_own() -> None:
    raise Unusual("here")


class Unusual(Exception):
    """An error with a module of its own."""


@task
def complex_exception() -> None:
    raise ValueError(ValueError("This task failed"))


@task
def complex_return_value() -> Any:
    return lambda: True


@task(takes_context=True)
def get_task_id(context: TaskContext) -> str:
    return context.task_result.id


@task(takes_context=True)
def third_time_lucky(context: TaskContext) -> list[Any]:
    if context.attempt < 3:
        raise ConnectionError(f"attempt {context.attempt}")
    return [context.attempt, len(context.task_result.errors), context.task_result.status]


@task
def end_in_a_transaction(value: Any) -> Any:
    with current_job().ending(result=value):
        pass
    return value


@task
def enqueue_another() -> str:
    return add.enqueue(1).id


@task
def snooze() -> None:
    raise RetryLater(60)


@task
def by_and_by() -> None:
    for done in range(current_job().cursor or 0, 2):
        current_job().checkpoint(done + 1)


@task
async def snooze_in_a_group() -> None:
    async def ask() -> None:
        raise RetryLater(60)

    async with asyncio.TaskGroup() as group:
        group.create_task(ask())


@task(takes_context=True)
def failing_once(context: TaskContext) -> None:
    if context.attempt == 1:
        raise ConnectionError("attempt 1")
