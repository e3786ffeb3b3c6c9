"""`@job`: mark a method that may run as a job, and set its options."""

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from jobs.authoring.retry import Retry

Function = TypeVar("Function", bound=Callable[..., Any])
MARK = "job_spec"
OVERRIDABLE = frozenset({"timeout", "max_retries"})


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The options of @job. Code may override queue, priority, timeout and dedup; a tenant fewer (permit.py)."""

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
            raise TypeError(f"@job: override may contain {', '.join(sorted(OVERRIDABLE))}, not {self.override!r}")


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
    """Mark a method that may run as a job; below @classmethod for a job without an object.

    queue: its name. priority: 0 (first) to 10 (last). timeout: seconds that the job may run. dedup: return an identical
    unfinished job instead of storing a second one. dedup_key: a function of the bound arguments; jobs with equal return
    values (JSON) are identical; without it jobs with equal arguments are. result_ttl: seconds that the result is kept.
    retry: the policy for failed attempts; without one a failure is final. memory: MiB that the process may use before
    it is killed. http: whether a tenant may call the method over HTTP, on its own objects and with any arguments.
    override: which of "timeout" and "max_retries" such a call may set higher than here.
    Raises TypeError for a signature whose arguments cannot be given by name.
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
