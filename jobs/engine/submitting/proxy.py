"""The call of a method or function as a job: `report.async_.execute(region="EU")`, `async_(report.execute)(...)`.

Both do the same. The value of `async_(...)` takes the arguments of the function itself, and type checkers know them; of
a name behind `async_.` they know nothing. Each verb has an awaitable twin for async callers, with an `a` before its
name. Django refuses queries in the thread of an event loop, so the twin runs in another thread.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, Generic, ParamSpec, TypedDict, Unpack
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.exceptions import SynchronousOnlyOperation
from django.db import models

from jobs.calls.compose import JobIds, compose, compose_each
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import Target, target, target_of
from jobs.calls.request import JobRequest, requests_of
from jobs.engine.submitting.submit import submit, submit_all

Arguments = ParamSpec("Arguments")


class Options(TypedDict, total=False):
    """The options of a call. An option that is left out has the value of the method's @job.

    priority: 0 (first) to 10.
    delay: seconds, or a timedelta.
    at: a moment with a time zone.
    expires: seconds after the job may start, a timedelta, or a moment; from then on no attempt starts.
    identical: "join", "replace", "supersede" or "debounce"; "gather" only where @job says so.
    user: a user of the tenant, or the user's key.
    tenant: the tenant, for a function or a class.
    timeout: seconds.
    after: the ids of jobs or batches that must have succeeded first.
    after_end: the ids of jobs or batches that must have ended first, in any way.
    after_patience: seconds, or a timedelta, in which a failed predecessor may be revived. Without it, or after it, this
    job is cancelled.
    sequence: a name; the tenant's jobs of one name run one at a time, in the order of submission.
    """

    queue: str | None
    priority: int | None
    delay: float | timedelta | None
    at: datetime | None
    expires: float | timedelta | datetime | None
    dedup: bool | None
    identical: str | None
    user: models.Model | str | int | None
    tenant: models.Model | None
    timeout: float | None
    max_retries: int | None
    after: JobIds
    after_end: JobIds
    after_patience: float | timedelta | None
    sequence: str | int | UUID | None


class Call(Generic[Arguments]):
    """One @job method or function, ready to be called asynchronously.

    instance: its object; None: it has none.
    """

    alters_data = True  # a template that names it does not call it

    def __init__(self, target: Target, instance: models.Model | None, options: Mapping[str, Any]) -> None:
        self.target = target
        self.instance = instance
        self.options = options

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> int:
        """Submit the call; return the job's id. Raises InvalidRequest."""
        try:
            return submit(self.request(*args, **kwargs)).id
        except SynchronousOnlyOperation as error:
            raise named_twin(error, f"async_({self.target.method}).asubmit") from None

    async def asubmit(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> int:
        """Submit the call; return the job's id. Raises InvalidRequest."""
        return await sync_to_async(self)(*args, **kwargs)

    def request(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> JobRequest:
        """Return the call as a request for `submit_many`, without submitting it. Raises InvalidRequest."""
        return compose(self.target, self.instance, self.target.bind(args, kwargs), **self.options)

    def many(self, calls: Iterable[Mapping[str, Any]]) -> list[int]:
        """Submit one job for each mapping of arguments, in one statement; return the ids in order.

        Raises InvalidRequest.
        """
        bound = (self.target.bind((), call) for call in calls)
        requests = compose_each(self.target, self.instance, bound, **self.options)
        return _submit_many(requests, f"async_({self.target.method}).amany")

    async def amany(self, calls: Iterable[Mapping[str, Any]]) -> list[int]:
        """Submit one job for each mapping of arguments, in one statement; return the ids in order.

        Raises InvalidRequest.
        """
        return await sync_to_async(self.many)(calls)

    for verb in (asubmit, many, amany):
        verb.__dict__["alters_data"] = True
    del verb


class Calls:
    """The value of `async_`: the @job methods of an object or a class, with options."""

    do_not_call_in_templates = True  # a template wants the name behind the dot; a call would take options

    def __init__(
        self, model: type[models.Model], instance: models.Model | None, options: Mapping[str, Any] | None = None
    ) -> None:
        self._model = model
        self._instance = instance
        self._options = dict(options or {})

    def __call__(self, **options: Unpack[Options]) -> "Calls":
        """Return the same methods with these options."""
        return Calls(self._model, self._instance, {**self._options, **options})

    def __getattr__(self, method: str) -> Call[...]:
        if method.startswith("__"):  # what Python asks of any object
            raise AttributeError(method)
        try:
            return Call(target(self._model, method), self._instance, self._options)
        except InvalidRequest as error:
            lost = hasattr(self._model, method)  # a function without the mark, or a mock
            hint = "; a test patches what a job calls, not the job" if lost else ""
            raise AttributeError(f"{self._model.__name__}.async_.{method}: {error.message}{hint}") from None


class _Async:
    def __get__(self, instance: models.Model | None, model: type[models.Model]) -> Calls:
        return Calls(model, instance)


class Asynchronous:
    """Mix into a model that has a `tenant`: its @job methods can then be called through `async_`.

    jobs_tenant: the path to the tenant, if it is not `tenant`: "shop", "order__shop", "pk".
    """

    __module__ = "jobs"  # migrations of models with it name this module, wherever the file is

    async_ = _Async()
    jobs_tenant: ClassVar[str] = "tenant"


def async_(function: Callable[Arguments, Any], **options: Unpack[Options]) -> Call[Arguments]:
    """Return a @job function of a module, or method of an object or a class, ready to be called asynchronously.

    `async_(send, tenant=tenant)(to="a@b.com")`, `async_(report.execute, priority=0)(region="EU")`.
    Raises InvalidRequest unless it is a job.
    """
    owner = getattr(function, "__self__", None)
    if isinstance(owner, models.Model):
        return Call(_target(type(owner), function), owner, options)
    if isinstance(owner, type) and issubclass(owner, models.Model):
        return Call(_target(owner, function), None, options)
    return Call(target_of(function), None, options)


def _target(model: type[models.Model], method: Callable[..., Any]) -> Target:
    marked = target(model, method.__name__)
    if getattr(method, "__func__", marked.function) is not marked.function:
        raise InvalidRequest(
            "source_method", f"{model.__name__} overrides {marked.method}: a job would call the override"
        )
    return marked


def submit_many(requests: Iterable[JobRequest]) -> list[int]:
    """Submit any number of requests in one statement; return the jobs' ids in order."""
    return _submit_many(requests, "asubmit_many")


async def asubmit_many(requests: Iterable[JobRequest]) -> list[int]:
    """Submit any number of requests in one statement; return the jobs' ids in order."""
    return await sync_to_async(submit_many)(requests)


def _submit_many(requests: Iterable[JobRequest], twin: str) -> list[int]:
    try:
        return [submitted.id for submitted in submit_all(requests_of(requests))]
    except SynchronousOnlyOperation as error:
        raise named_twin(error, twin) from None


def named_twin(error: SynchronousOnlyOperation, twin: str) -> SynchronousOnlyOperation:
    """Return Django's refusal of a query in a coroutine, with the call to make there instead."""
    return SynchronousOnlyOperation(f"{error} In a coroutine: await {twin}(...)")
