"""The body of the job that a Celery task has become: the task, and around it the hooks of its class.

As in Celery, the hooks run in the process of the body. So after an attempt was killed, none runs.
"""

from collections.abc import Callable
from typing import Any

from billiard.einfo import ExceptionInfo

from jobs.authoring.current import current_job
from jobs.authoring.decorator import CELERY_TASK, FAILED, STANDS_IN


def body_of(task: Any) -> Callable[..., Any]:
    """Return a function for a task, to be marked @job."""

    def run(*, args: list[Any], kwargs: dict[str, Any]) -> Any:
        call = (_id(), args, kwargs)
        task.before_start(*call)
        value = task(*args, **kwargs)
        task.on_success(value, *call)
        task.after_return("SUCCESS", value, *call, None)
        return value

    def failed(verb: str, error: BaseException, *, args: list[Any], kwargs: dict[str, Any]) -> None:
        call, info = (_id(), args, kwargs), ExceptionInfo((type(error), error, error.__traceback__))
        if verb in ("retry", "snooze"):
            task.on_retry(error, *call, info)
        elif verb not in ("stop", "hand_back", "wait_for"):  # Celery calls no hook either for a task that was revoked
            try:
                task.on_failure(error, *call, info)
            finally:
                task.after_return("FAILURE", error, *call, None)

    run.__module__, run.__qualname__ = task.__module__, task.__name__
    setattr(run, FAILED, failed)
    setattr(run, CELERY_TASK, task)
    setattr(run, STANDS_IN, True)
    return run


def _id() -> str:
    return str(current_job().id)
