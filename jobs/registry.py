"""What may run as a job: methods marked @job, on models that are Asynchronous. Nothing else can be named."""

import inspect
from collections.abc import Callable, Collection, Mapping
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
OVERRIDABLE = frozenset({"timeout", "max_retries"})


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What @job says of a method; code may override queue, priority, timeout and dedup, a tenant less (permit.py)."""

    queue: str = "default"
    priority: int = 5
    timeout: float | None = None  # seconds
    dedup: bool = True
    dedup_key: Callable[..., Any] | None = None
    result_ttl: float | None = None  # seconds
    retry: Retry | None = None
    memory: int | None = None  # MiB
    http: bool = False
    override: Collection[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.override, str) or not OVERRIDABLE.issuperset(self.override):
            raise TypeError(f"@job: override names some of {', '.join(sorted(OVERRIDABLE))}, not {self.override!r}")


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
    http: bool = ...,
    override: Collection[str] = ...,
) -> Callable[[Function], Function]: ...
def job(function: Any = None, **options: Any) -> Any:
    """Mark a method as one that may run as a job; under @classmethod, for a job without an object.

    queue: the line it waits in. priority: 0 (first) to 10 (last). timeout: seconds it may run. dedup: whether an
    identical unfinished job is returned instead of a second one. dedup_key: called with the bound arguments, returns
    the JSON value that says what is identical; without it all arguments together do. result_ttl: seconds the result is
    kept. retry: when a failed attempt is tried again; without it a failure is final. memory: MiB that its process may
    use before it is killed. http: whether a tenant may call it over HTTP, on its own objects and with any arguments.
    override: of "timeout" and "max_retries" those that such a call may set higher than they are here.
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
def source_types(*, http: bool = False) -> dict[str, type[models.Model]]:
    """Every model with a @job method, by its source type; http: one that may be called over HTTP."""
    return {model._meta.label_lower: model for model in apps.get_models() if methods(model, http=http)}


def resolve(source_type: str, source_method: str, *, http: bool = False) -> Target:
    """The target of that name. Raises InvalidRequest, saying which there are; http: of those that HTTP may call."""
    known = source_types(http=http)
    if source_type not in known:
        raise InvalidRequest("source_type", f"{_cut(source_type)} is unknown; known: {', '.join(sorted(known))}")
    return target(known[source_type], source_method, http=http)


def target(model: type[models.Model], method: str, *, http: bool = False) -> Target:
    """The target on a model. Raises InvalidRequest unless the method is marked @job; http: with http=True."""
    static = inspect.getattr_static(model, method, None)
    class_level = isinstance(static, classmethod)
    function = static.__func__ if isinstance(static, classmethod) else static
    spec = getattr(function, _MARK, None)
    if not callable(function) or not isinstance(spec, Spec) or (http and not spec.http):
        known = ", ".join(methods(model, http=http)) or "none"
        raise InvalidRequest("source_method", f"{_cut(method)} is not a job; jobs: {known}")
    return Target(model, method, function, spec, class_level)


def methods(model: type[models.Model], *, http: bool = False) -> list[str]:
    """The names of the methods marked @job; http: with http=True."""
    statics = ((name, inspect.getattr_static(model, name, None)) for name in dir(model))
    specs = ((name, getattr(getattr(static, "__func__", static), _MARK, None)) for name, static in statics)
    return [name for name, spec in specs if spec is not None and (spec.http or not http)]


def _cut(name: str) -> str:
    return repr(name if len(name) <= 200 else f"{name[:200]}…")  # noqa: PLR2004 - as long as the columns


def source(model: type[models.Model], source_id: Any, tenant_id: int) -> models.Model | None:
    """The tenant's object; None alike for one that is missing, malformed or another tenant's."""
    try:
        found = next(iter(model._default_manager.filter(pk=source_id, tenant=tenant_id)), None)
    except (ValueError, TypeError, OverflowError, ValidationError):
        return None
    # Written in another way (" 9", "0_9") it is not the id that anybody was told.
    return found if found is not None and str(found.pk) == str(source_id) else None
