"""What may run as a job: methods marked @job, on models that are Asynchronous. Nothing else can be named."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, overload

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models

from jobs.arguments import as_json
from jobs.policies.retry import Retry
from jobs.request import InvalidRequest
from jobs.signature import Signature, signature_of

Function = TypeVar("Function", bound=Callable[..., Any])
_MARK = "job_spec"


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What @job says of a method; a call may override queue, priority, timeout and dedup."""

    queue: str = "default"
    priority: int = 5
    timeout: float | None = None  # seconds
    dedup: bool = True
    dedup_key: Callable[..., Any] | None = None
    result_ttl: float | None = None  # seconds
    retry: Retry | None = None
    memory: int | None = None  # MiB


@overload
def job(function: Function) -> Function: ...
@overload
def job(
    *,
    queue: str = ...,
    priority: int = ...,
    timeout: float | None = ...,
    dedup: bool = ...,
    dedup_key: Callable[..., Any] | None = ...,
    result_ttl: float | None = ...,
    retry: Retry | None = ...,
    memory: int | None = ...,
) -> Callable[[Function], Function]: ...
def job(function: Any = None, **options: Any) -> Any:
    """Mark a method as one that may run as a job; under @classmethod, for a job without an object.

    queue: the line it waits in. priority: 0 (first) to 10 (last). timeout: seconds it may run. dedup: whether an
    identical unfinished job is returned instead of a second one. dedup_key: called with the bound arguments, returns
    the JSON value that says what is identical; without it all arguments together do. result_ttl: seconds the result is
    kept. retry: when a failed attempt is tried again; without it a failure is final. memory: MiB that its process may
    use before it is killed.
    Raises TypeError for a signature whose arguments cannot be named.
    """
    spec = Spec(**options)

    def mark(function: Function) -> Function:
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL or (
                parameter.kind is parameter.POSITIONAL_ONLY and parameter.name not in ("self", "cls")
            ):
                raise TypeError(f"@job {function.__qualname__}: {parameter} cannot be given by name")
        setattr(function, _MARK, spec)
        return function

    return mark(function) if function is not None else mark


@dataclass(frozen=True)
class Target:
    """A method that may run as a job, and what is known of it."""

    model: type[models.Model]
    method: str
    function: Callable[..., Any]
    spec: Spec
    class_level: bool

    @property
    def source_type(self) -> str:
        return self.model._meta.label_lower

    @property
    def signature(self) -> Signature:
        return signature_of(self.function)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name, as JSON. Raises InvalidRequest if they do not fit the signature."""
        try:
            bound = self.signature.bind(args, kwargs)
        except TypeError as error:
            raise InvalidRequest("args", f"do not fit {self.method}{self.signature.shown}: {error}") from None
        named: dict[str, Any] = as_json(bound)
        return named


@cache
def source_types() -> dict[str, type[models.Model]]:
    """Every model with a @job method, by its source type."""
    return {model._meta.label_lower: model for model in apps.get_models() if methods(model)}


def resolve(source_type: str, source_method: str) -> Target:
    """The target of that name. Raises InvalidRequest, saying which there are."""
    known = source_types()
    if source_type not in known:
        raise InvalidRequest("source_type", f"{source_type!r} is unknown; known: {', '.join(sorted(known))}")
    return target(known[source_type], source_method)


def target(model: type[models.Model], method: str) -> Target:
    """The target on a model. Raises InvalidRequest unless the method is marked @job."""
    static = inspect.getattr_static(model, method, None)
    class_level = isinstance(static, classmethod)
    function = static.__func__ if isinstance(static, classmethod) else static
    spec = getattr(function, _MARK, None)
    if not callable(function) or not isinstance(spec, Spec):
        raise InvalidRequest("source_method", f"{method!r} is not a job; jobs: {', '.join(methods(model)) or 'none'}")
    return Target(model, method, function, spec, class_level)


def methods(model: type[models.Model]) -> list[str]:
    """The names of the methods marked @job."""
    statics = ((name, inspect.getattr_static(model, name, None)) for name in dir(model))
    return [name for name, static in statics if hasattr(getattr(static, "__func__", static), _MARK)]


def source(model: type[models.Model], source_id: Any, tenant_id: int) -> models.Model | None:
    """The tenant's object; None alike for one that is missing, malformed or another tenant's."""
    try:
        found = next(iter(model._default_manager.filter(pk=source_id, tenant=tenant_id)), None)
    except (ValueError, TypeError, OverflowError, ValidationError):
        return None
    # Written in another way (" 9", "0_9") it is not the id that anybody was told.
    return found if found is not None and str(found.pk) == str(source_id) else None
