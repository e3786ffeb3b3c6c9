"""`@job`: marks a method as one that may run as a job, and says how."""

import inspect
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from jobs.authoring.retry import Retry
from jobs.recurrence import CATCH_UP, OVERLAP, Recurrence

Function = TypeVar("Function", bound=Callable[..., Any])
MARK = "job_spec"
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
    every: float | None = None  # seconds
    cron: str = ""
    tz: str = "UTC"
    for_each_tenant: Callable[[], Iterable[Any]] | None = None
    jitter: float = 0.0  # seconds
    catch_up: str = "one"
    overlap: str = "queue"

    @property
    def recurs(self) -> bool:
        return self.every is not None or bool(self.cron)

    def __post_init__(self) -> None:
        if self.recurs != (self.for_each_tenant is not None):
            raise TypeError("@job: every or cron, and for_each_tenant, which says for whom it recurs, go together")
        if self.recurs:
            Recurrence(every=self.every, cron=self.cron, tz=self.tz)
        if self.catch_up not in CATCH_UP or self.overlap not in OVERLAP:
            raise TypeError(f"@job: catch_up is one of {', '.join(CATCH_UP)}; overlap is one of {', '.join(OVERLAP)}")
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
    every: float | None = ...,
    cron: str = ...,
    tz: str = ...,
    for_each_tenant: Callable[[], Iterable[Any]] | None = ...,
    jitter: float = ...,
    catch_up: str = ...,
    overlap: str = ...,
) -> Callable[[Function], Function]: ...
def job(function: Any = None, **options: Any) -> Any:
    """Mark a method as one that may run as a job; under @classmethod, for a job without an object.

    queue: the line it waits in. priority: 0 (first) to 10 (last). timeout: seconds it may run. dedup: whether an
    identical unfinished job is returned instead of a second one. dedup_key: called with the bound arguments, returns
    the JSON value that says what is identical; without it all arguments together do. result_ttl: seconds the result is
    kept. retry: when a failed attempt is tried again; without it a failure is final. memory: MiB that its process may
    use before it is killed. http: whether a tenant may call it over HTTP, on its own objects and with any arguments.
    override: of "timeout" and "max_retries" those that such a call may set higher than they are here.
    every: seconds; or cron: five fields or @daily and its kin, in the zone tz: it recurs, as a job of the class without
    arguments, for each of the tenants that for_each_tenant() returns. jitter: seconds over which these are spread.
    catch_up: of the times missed while nothing ran, "none", the last "one", or "all" up to a bound. overlap: while the
    last run is not over, "skip" a time, "queue" behind it, or "cancel" it.
    Raises TypeError for a signature whose arguments cannot be named; InvalidRecurrence, a ValueError.
    """
    spec = Spec(**options)

    def mark(function: Function) -> Function:
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL or (
                parameter.kind is parameter.POSITIONAL_ONLY and parameter.name not in ("self", "cls")
            ):
                raise TypeError(f"@job {function.__qualname__}: {parameter} cannot be given by name")
        setattr(function, MARK, spec)
        return function

    return mark(function) if function is not None else mark
