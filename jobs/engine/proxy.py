"""`report.async_.execute(region="EU")`, `async_(send)(to="x")`: turn the call of a method or function into a job."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db import models

from jobs.calls.compose import compose, compose_each
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import Target, target, target_of
from jobs.calls.request import JobRequest
from jobs.engine.submit import submit, submit_all


class Call:
    """One @job method or function, ready to be called asynchronously. instance: its object, if it has one."""

    def __init__(self, target: Target, instance: models.Model | None, options: Mapping[str, Any]) -> None:
        self.target = target
        self.instance = instance
        self.options = options

    def __call__(self, *args: Any, **kwargs: Any) -> int:
        """Submit the call; return the job's id. Raises InvalidRequest."""
        return submit(self.request(*args, **kwargs)).id

    def request(self, *args: Any, **kwargs: Any) -> JobRequest:
        """Return the call as a request for `submit_many`, without submitting it. Raises InvalidRequest."""
        return compose(self.target, self.instance, self.target.bind(args, kwargs), **self.options)

    def many(self, calls: Iterable[Mapping[str, Any]]) -> list[int]:
        """Submit one job for each mapping of arguments, in one statement; return the ids in order.

        Raises InvalidRequest.
        """
        bound = (self.target.bind((), call) for call in calls)
        return submit_many(compose_each(self.target, self.instance, bound, **self.options))


class Calls:
    """The value of `async_`: the @job methods of an object or a class, with options."""

    def __init__(
        self,
        model: type[models.Model],
        instance: models.Model | None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._model = model
        self._instance = instance
        self._options = dict(options or {})

    def __call__(self, **options: Any) -> "Calls":
        """The same methods with options: queue, priority (0..10), delay (seconds or timedelta), at (aware datetime),
        dedup (bool), user (key or user), tenant, timeout (seconds), max_retries."""
        return Calls(self._model, self._instance, {**self._options, **options})

    def __getattr__(self, method: str) -> Call:
        if method.startswith("_"):
            raise AttributeError(method)
        try:
            return Call(target(self._model, method), self._instance, self._options)
        except InvalidRequest as error:
            raise AttributeError(f"{self._model.__name__}.async_.{method}: {error.message}") from None


class _Async:
    def __get__(self, instance: models.Model | None, model: type[models.Model]) -> Calls:
        return Calls(model, instance)


class Asynchronous:
    """Mix into a model that has a `tenant`: its @job methods can then be called through `async_`."""

    __module__ = "jobs"  # what migrations of models with it say, wherever this file lies

    async_ = _Async()


def async_(function: Callable[..., Any], **options: Any) -> Call:
    """A @job function of a module, ready to be called asynchronously: `async_(send, tenant=tenant)(to="a@b.com")`.

    options: as those of `async_`. Raises InvalidRequest unless the function is a job.
    """
    return Call(target_of(function), None, options)


def submit_many(requests: Iterable[JobRequest]) -> list[int]:
    """Submit any number of requests in one statement; return the jobs' ids in order."""
    return [submitted.id for submitted in submit_all(list(requests))]
