"""The decorator `as_job`, and the object that it puts in the place of the task."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from celery.result import AsyncResult
from django.core.exceptions import SynchronousOnlyOperation

from jobs.authoring.decorator import job
from jobs.calls.compose import compose
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import target_of
from jobs.contrib.celery_tasks.body import body_of
from jobs.engine.submitting.proxy import named_twin
from jobs.engine.submitting.submit import submit_for
from tenants.models import Tenant

TenantOf = Callable[..., Tenant | None]

CANVAS = frozenset({"s", "si", "signature", "subtask", "chunks", "map", "starmap", "replace", "send_task"})
OF_THE_WIRE = frozenset({"serializer", "compression", "retry", "retry_policy", "ignore_result", "headers", "shadow"})


class Sent(NamedTuple):
    """The answer to `delay`: the id of the job, as text, as Celery's results have it."""

    id: str

    def __getattr__(self, name: str) -> Any:
        if name in dir(AsyncResult):
            raise AttributeError(
                f"{name}: this is a job now, and not a result of Celery: queries.job(tenant_id, {self.id}) returns its"
                f" status, results.load its result, and cancel({self.id}, tenant_id=...) stops it"
            )
        raise AttributeError(name)


class JobTask:
    """A Celery task whose `delay` and `apply_async` submit a job. Called plainly, it is the task."""

    def __init__(self, task: Any, tenant: TenantOf | None, options: Mapping[str, Any]) -> None:
        self.task = task
        self.__module__, self.__name__, self.__doc__ = task.__module__, task.__name__, task.__doc__
        self._target = target_of(job(**{"dedup": False, **options})(body_of(task)))
        self._tenant = tenant

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the task here and now."""
        return self.task(*args, **kwargs)

    def delay(self, *args: Any, **kwargs: Any) -> Sent:
        """Submit a job. Raises InvalidRequest, and TooManyWaiting if the tenant's backlog is full."""
        return self.apply_async(args, kwargs)

    def delay_on_commit(self, *args: Any, **kwargs: Any) -> None:
        """Submit a job, as `delay` does: the caller's transaction stores every job, which starts after its commit."""
        self.apply_async(args, kwargs)

    def apply_async_on_commit(self, *args: Any, **kwargs: Any) -> None:
        """Submit a job, as `apply_async` does, which takes the same arguments."""
        self.apply_async(*args, **kwargs)

    def apply_async(
        self,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        *,
        countdown: float | None = None,
        eta: datetime | None = None,
        expires: float | datetime | None = None,
        queue: str | None = None,
        **celery_options: Any,
    ) -> Sent:
        """Submit a job, after `countdown` seconds or at `eta`, in that queue; an expired job does not start.

        Options of Celery's message have no meaning here, and are ignored. Raises InvalidRequest for others and for
        arguments that are not JSON, and TooManyWaiting if the tenant's backlog is full.
        """
        for name in celery_options.keys() - OF_THE_WIRE:
            raise InvalidRequest(name, f"{self.__name__} is a job now, which has no such option of Celery")
        args, kwargs = list(args or ()), dict(kwargs or {})
        try:
            bound = self._target.bind((), {"args": args, "kwargs": kwargs})
        except InvalidRequest as error:  # of the body's arguments, which the caller does not know
            raise InvalidRequest(error.field.removeprefix("args."), error.message) from None
        try:
            tenant = self._tenant(*args, **kwargs) if self._tenant else None
            options = {"tenant": tenant, "queue": queue, "delay": countdown, "expires": expires}
            request = partial(compose, self._target, None, bound, **options)
            return Sent(str(submit_for(eta if countdown is None else None, request).id))
        except SynchronousOnlyOperation as error:
            raise named_twin(error, f"sync_to_async({self.__name__}.delay)") from None

    def __getattr__(self, name: str) -> Any:
        """Return other attributes of the task, except those that build messages for Celery."""
        if name.startswith("__") or name == "task":
            raise AttributeError(name)
        if name in CANVAS:
            raise AttributeError(
                f"{self.__name__} is a job now, and Celery's canvas knows only tasks: submit the next job from the job"
                f" before it, or use {self.__name__}.task.{name}, which sends to Celery"
            )
        return getattr(self.task, name)


def as_job(task: Any = None, *, tenant: TenantOf | None = None, **options: Any) -> Any:
    """Let a Celery task run as a job: the decorator above `@shared_task`. Its callers need not change.

    tenant: a function that gets the arguments of the call, and returns the Tenant whose job it is. None: the tenant of
    the running job.
    options: those of `@job`; without `dedup=True` each call is a job of its own, as in Celery.
    """

    def wrap(task: Any) -> JobTask:
        return JobTask(task, tenant, options)

    return wrap if task is None else wrap(task)
