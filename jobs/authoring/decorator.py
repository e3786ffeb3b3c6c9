"""`@job`: mark a method or function that may run as a job, and set its options."""

import inspect
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from jobs.authoring.recurrence import CATCH_UP, OVERLAP, Recurrence
from jobs.authoring.retry import Retry
from plumbing.bounds import MAX_SECONDS, is_number, is_whole
from plumbing.units import why_not_names

Function = TypeVar("Function", bound=Callable[..., Any])
MARK = "job_spec"
# Attributes of a function marked @job:
FAILED = "job_failed"  # a function that is called after a failed attempt, with the verb of its settling and the error
STANDS_IN = "job_stands_in"  # true: it runs a task of another library, which has its name in the module
CELERY_TASK = "celery_task"  # the Celery task that it runs as a job
FUNCTIONS: dict[tuple[str, str], Callable[..., Any]] = {}  # by module and name
IDENTICAL = ("join", "replace", "supersede", "debounce", "gather")
GATHER, CALLS = IDENTICAL[-1], "calls"  # the argument of a gathering method that is a list
OVERRIDABLE = frozenset({"timeout", "max_retries"})
LEAST_SILENCE = 0.1  # seconds


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The options of @job. A call in code may override queue, priority, timeout and dedup; a tenant: see permit.py."""

    title: str = ""
    queue: str = "default"
    priority: int = 5
    timeout: float | None = None  # seconds
    silence: float | None = None  # seconds
    turn: float | None = None  # seconds
    expires: float | None = None  # seconds
    dedup: bool = True
    dedup_key: Callable[..., Any] | None = None
    identical: str = "join"
    within: float | None = None  # seconds
    most_calls: int = 1000
    sequence: Callable[..., Any] | None = None
    sequence_stops: bool = False
    may_hold: str | None = None
    result_ttl: float | None = None  # seconds
    retry: Retry | None = None
    memory: int | None = None  # MiB
    units: Collection[str] = ()
    log: bool = False
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
            raise TypeError("@job: give every or cron together with for_each_tenant, which returns the tenants")
        if self.recurs:
            Recurrence(every=self.every, cron=self.cron, tz=self.tz)
        if self.catch_up not in CATCH_UP or self.overlap not in OVERLAP:
            raise TypeError(f"@job: catch_up is one of {', '.join(CATCH_UP)}; overlap is one of {', '.join(OVERLAP)}")
        self._check_calls()
        self._check_silence()
        if wrong := repr(self.units) if isinstance(self.units, str) else why_not_names(self.units):
            raise TypeError(f'@job: units are names such as units=("tokens",): {wrong}')
        if self.may_hold not in (None, "queue"):
            raise TypeError(f'@job: may_hold is "queue", or is left out, not {self.may_hold!r}')
        if not isinstance(self.retry, Retry | None):  # a number, or `Retry.exponential` without a call
            raise TypeError(f"@job: retry is a policy such as Retry.exponential(max_retries=5), not {self.retry!r}")
        if self.result_ttl is not None and not is_number(self.result_ttl):
            raise TypeError(f"@job: result_ttl is a number of seconds, not {self.result_ttl!r}")
        if self.turn is not None and not is_number(self.turn, 0, MAX_SECONDS):
            raise TypeError(f"@job: turn is a number of seconds from 0 to {MAX_SECONDS:.0f}, not {self.turn!r}")
        if isinstance(self.override, str) or not OVERRIDABLE.issuperset(self.override):
            raise TypeError(f"@job: override may contain {', '.join(sorted(OVERRIDABLE))}, not {self.override!r}")

    def _check_silence(self) -> None:
        if self.silence is None:
            return
        if not is_number(self.silence, LEAST_SILENCE, MAX_SECONDS):
            bounds = f"{LEAST_SILENCE} to {MAX_SECONDS:.0f}"
            raise TypeError(f"@job: silence is a number of seconds from {bounds}, not {self.silence!r}")
        if is_number(self.timeout) and self.silence > self.timeout:
            raise TypeError(
                f"@job: silence ({self.silence:g} s) is longer than timeout ({self.timeout:g} s), so it would never "
                "end a body; make it shorter, or leave it out"
            )

    def _check_calls(self) -> None:
        """Check how a call stands to other calls."""
        if self.identical not in IDENTICAL or (self.identical != "join" and not self.dedup):
            raise TypeError(f"@job: identical is one of {', '.join(IDENTICAL)}, and all but join need dedup")
        if self.sequence is not None and self.identical != "join":
            raise TypeError("@job: give either sequence, or identical; each call of a sequence is a job")
        if (self.identical == GATHER) != (self.within is not None):
            raise TypeError("@job: give within, in seconds, together with identical='gather'; 0 if it need not wait")
        if self.within is not None and not is_number(self.within, 0, MAX_SECONDS):
            raise TypeError(f"@job: within is a number of seconds from 0 to {MAX_SECONDS:.0f}, not {self.within!r}")
        if not is_whole(self.most_calls, 2):
            raise TypeError(f"@job: most_calls is a whole number, 2 or more, not {self.most_calls!r}")
        for name in ("dedup_key", "sequence"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise TypeError(f"@job: {name} is a function of the arguments, not {function!r}")


@overload
def job(function: Function) -> Function: ...
@overload
def job(
    *,
    title: str = ...,
    queue: str = ...,
    priority: int = ...,
    timeout: float | None = ...,
    silence: float | None = ...,
    turn: float | None = ...,
    expires: float | None = ...,
    dedup: bool = ...,
    dedup_key: Callable[..., Any] | None = ...,
    identical: str = ...,
    within: float | None = ...,
    most_calls: int = ...,
    sequence: Callable[..., Any] | None = ...,
    sequence_stops: bool = ...,
    may_hold: str | None = ...,
    result_ttl: float | None = ...,
    retry: Retry | None = ...,
    memory: int | None = ...,
    units: Collection[str] = ...,
    log: bool = ...,
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
    """Mark a method, or a function of a module, that may run as a job. It may be an `async def`.

    A job without an object: write the mark below @classmethod.

    title: the name that members see; without it, the first line of the docstring, or the function's name in words.
    queue: the name of the queue.
    priority: 0 (first) to 10 (last).
    timeout: seconds that the job may run.
    silence: seconds that the body may run without telling its progress or reaching a checkpoint; after them it ends
        as one over its timeout.
    turn: seconds after which it gives its slot back at a checkpoint, if a job of another lane lacks its process.
    expires: seconds from when the job may start; after them no attempt starts, and the job is cancelled.
    dedup: True: return an identical unfinished job instead of storing a second one.
    dedup_key: a function of the bound arguments; jobs with equal return values (JSON) are identical.
        Without it jobs with equal arguments are identical.
    identical: how an identical unfinished job is treated:
        "join" returns it;
        "replace": the newest call replaces it if it waits;
        "supersede": the newest call replaces it even if it runs;
        "debounce" makes the calls one job with the arguments of the last, due `delay` after it;
        "gather" makes the calls one job with the `calls` of all. Calls with other values of the other arguments, or of
        `dedup_key`, are another job.
    within: seconds from the first of gathered calls until their job is due; 0: it gathers while it waits for a slot.
    most_calls: the most calls that it gathers; it is due when it has them.
    sequence: a function of the bound arguments. It returns a name (text, a whole number or a UUID), or None. A tenant's
        jobs of one name run one at a time, in the order of submission; nothing is identical to them.
    sequence_stops: True: once such a job has failed, the others of its sequence wait until a person revives or
        discards it. Without a retry policy it ends as dead, not as error.
    may_hold: "queue": RetryLater(hold="queue") in the body may hold all jobs of its queue, those of other tenants, too.
    result_ttl: seconds that the result is kept.
    retry: the policy for failed attempts; without one a failure is final.
    memory: MiB that the process may use before it is killed.
    units: the names of what a body uses, such as ("tokens",): while its tenant's budget of one of them is used up, no
        job of this type starts.
    log: whether operators see the end of what each attempt logs and prints.
    http: whether a tenant may call the method over HTTP, on its own objects and with any arguments.
    override: which of "timeout" and "max_retries" such a call may set higher than here.
    every: seconds between runs. With `every` or `cron` the job recurs, without an object and without arguments.
    cron: five fields, or @daily and the like; an alternative to `every`.
    tz: the time zone of `cron`.
    for_each_tenant: a function that returns the tenants for which the job recurs.
    jitter: seconds over which the tenants' runs are spread.
    catch_up: which of the times missed in an outage still run: "none", the last "one", or "all" up to a bound.
    overlap: while the previous run is not over, "skip" a time, "queue" a run behind it, or "cancel" it.

    Raises TypeError for a function that cannot run as a job (arguments without names, a generator), and for an
    option of a wrong type. Raises InvalidRecurrence, a ValueError, for an invalid `every`, `cron` or `tz`.
    """
    spec = Spec(**options)

    def mark(function: Function) -> Function:
        _check_kind(function)
        parameters = signature(function).parameters
        if spec.identical == GATHER and CALLS not in parameters:
            raise TypeError(f"@job {function.__qualname__}: gathers calls, so it needs the argument `{CALLS}`, a list")
        for parameter in parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL or (
                parameter.kind is parameter.POSITIONAL_ONLY and parameter.name not in ("self", "cls")
            ):
                raise TypeError(f"@job {function.__qualname__}: {parameter} cannot be given by name")
        setattr(function, MARK, spec)
        if function.__qualname__.isidentifier():  # it belongs to a module, not to a class or to another function
            FUNCTIONS[function.__module__, function.__qualname__] = function
        return function

    return mark(function) if function is not None else mark


def _check_kind(function: Any) -> None:
    if isinstance(function, classmethod | staticmethod):
        raise TypeError(f"@job {function.__qualname__}: goes below @classmethod; a static method is no job")
    if isinstance(function, type) or not hasattr(function, "__qualname__"):  # a class, or a partial
        raise TypeError(f"@job {function!r}: is no function; mark one that calls it")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"@job {function.__qualname__}: is a generator, of which a call runs nothing; return a list")


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function, even if its annotations have names that are not imported or defined yet.

    From Python 3.14 on, `inspect` would otherwise look these names up, and fail.
    """
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)
