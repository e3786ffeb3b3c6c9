"""A checked request for one job. A refusal names the invalid field."""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, ClassVar

from django.utils import timezone

from jobs.authoring.decorator import IDENTICAL
from jobs.calls.arguments import as_text, check_text
from jobs.calls.refusals import InvalidRequest
from plumbing.bounds import MAX_SECONDS, is_number, is_whole

LAST_PRIORITY = 10
MOST_PREDECESSORS = 1000
JOIN, REPLACE, SUPERSEDE, DEBOUNCE, GATHER = IDENTICAL  # how an identical unfinished job is treated: see @job
NEWEST_WINS = frozenset({REPLACE, SUPERSEDE, DEBOUNCE})
MOST_OF_SEQUENCE = 200  # characters of its name
MAX_WHOLE = 1_000_000  # MiB, retries


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """A job to submit. Raises InvalidRequest if a value is out of range.

    delay: seconds until the job is due.
    at: the moment when it is due, an aware datetime; `submit` checks by the database's clock that it is in the future.
    expires: seconds from when the job is due; after them no attempt starts.
    expires_at: the moment from which on no attempt starts, an aware datetime.
    timeout: seconds that the job may run.
    memory: MiB that the process may use.
    max_retries: overrides the policy's number.
    identical: one of IDENTICAL.
    most_calls: if it is gathered, the most calls of its job.
    dedup_key: equal for identical jobs; None: the job is identical to no other.
    after: the ids of jobs that must have succeeded first.
    after_end: the ids of jobs that must have ended first, in any way.
    after_patience: seconds in which a job of `after` that did not succeed may be revived.
    sequence: of the tenant's jobs with one name here one runs at a time, in the order of submission; None: in none.
    sequence_stops: whether its failure stops the sequence, until a person revives or discards it.
    predecessors: the jobs of `after` and `after_end`.
    batch_id: the batch that the job belongs to.
    spends: the units of its job type: while its tenant's budget of one is used up, it does not start.
    is_async: whether its method is `async def`; a light pool without threads takes no others.
    """

    tenant_id: int
    source_type: str
    source_id: str | None
    source_method: str
    args: dict[str, Any]
    queue: str = "default"
    priority: int = 5
    user_key: str = ""
    delay: float | None = None
    at: datetime | None = None
    expires: float | None = None
    expires_at: datetime | None = None
    timeout: float | None = None
    memory: int | None = None
    max_retries: int | None = None
    identical: str = JOIN
    most_calls: int | None = None
    dedup_key: uuid.UUID | None = None
    after: tuple[int, ...] = ()
    after_end: tuple[int, ...] = ()
    after_patience: float | None = None
    sequence: str | None = None
    sequence_stops: bool = False
    batch_id: int | None = None
    is_async: bool = False
    spends: tuple[str, ...] = ()
    predecessors: tuple[int, ...] = field(init=False, default=(), repr=False, compare=False)
    args_text: str = field(init=False, repr=False, compare=False)  # as JSON: serialised once

    # The fields beside the object and the arguments; jobs that are submitted together mostly share them.
    KIND: ClassVar = (
        *("tenant_id", "queue", "priority", "user_key", "source_type", "source_method"),
        *("timeout", "memory", "max_retries", "delay", "at", "expires", "expires_at", "identical", "predecessors"),
        *("batch_id", "is_async", "sequence_stops", "spends"),
    )

    def __post_init__(self) -> None:
        if not is_whole(self.priority, 0, LAST_PRIORITY):
            raise InvalidRequest(
                "priority", f"must be a whole number from 0 (first) to 10 (last), not {self.priority!r}"
            )
        if self.delay is not None and self.at is not None:
            raise InvalidRequest("delay", "give either delay or at, not both")
        _check_seconds("delay", self.delay, least=0)
        _check_seconds("expires", self.expires, least=0.1)
        _check_identical(self.identical, self.delay)
        _check_seconds("timeout", self.timeout, least=0.1)
        _check_whole("memory", self.memory, least=16)
        _check_whole("max_retries", self.max_retries, least=0)
        if self.at is not None:
            object.__setattr__(self, "at", _in_utc("at", self.at))
        if self.expires_at is not None:
            object.__setattr__(self, "expires_at", _in_utc("expires", self.expires_at))
        if len(self.user_key) > 100:  # noqa: PLR2004
            raise InvalidRequest("user", "must be text of at most 100 characters")
        if len(self.source_id or "") > 100:  # noqa: PLR2004
            raise InvalidRequest("source_id", "must be text of at most 100 characters: the key of the object")
        check_text(self.user_key, "user")
        check_text(self.queue, "queue")
        if self.after or self.after_end or self.after_patience is not None:
            self._check_predecessors()
        if self.sequence is not None:
            self._check_sequence()
        object.__setattr__(self, "args_text", as_text(self.args))

    def _check_predecessors(self) -> None:
        predecessors = tuple(sorted({*self.after, *self.after_end}))
        if not predecessors:
            raise InvalidRequest("after_patience", "needs after: the jobs that it waits for")
        if len(predecessors) > MOST_PREDECESSORS:
            raise InvalidRequest("after", f"may name at most {MOST_PREDECESSORS:,} jobs, not {len(predecessors):,}")
        if self.identical != JOIN:
            raise InvalidRequest("after", "give either after, or identical, not both: identical='join' overrules @job")
        if self.delay is not None or self.at is not None:
            raise InvalidRequest("after", "give either after, or delay or at, not both")
        _check_seconds("after_patience", self.after_patience, least=0)
        object.__setattr__(self, "predecessors", predecessors)

    def _check_sequence(self) -> None:
        check_sequence(self.sequence)
        if self.identical != JOIN:
            raise InvalidRequest(
                "sequence", "give either sequence, or identical, not both: each call of a sequence is a job"
            )
        if self.delay is not None or self.at is not None:
            raise InvalidRequest(
                "sequence", "give either sequence, or delay or at, not both: it starts when its turn comes"
            )

    def alone(self) -> "JobRequest":
        """Return the same request, identical to no other. It waits for no further calls, if it would gather them."""
        delay = None if self.identical == GATHER else self.delay
        return replace(self, identical=JOIN, most_calls=None, dedup_key=None, delay=delay)

    def behind(self, after: Iterable[int]) -> "JobRequest":
        """Return the same request, to run after these jobs. It is identical only if it waits for the same jobs."""
        also = tuple(sorted({*self.after, *after}))
        key = None if self.dedup_key is None else uuid.uuid5(self.dedup_key, f"after {also}")
        return replace(self, after=also, dedup_key=key)

    def within(self, batch_id: int) -> "JobRequest":
        """Return the same request, in a batch. It is identical only to requests of that batch."""
        key = None if self.dedup_key is None else uuid.uuid5(self.dedup_key, f"batch {batch_id}")
        return replace(self, batch_id=batch_id, dedup_key=key)

    def calling(self, args: dict[str, Any], dedup_key: uuid.UUID | None, sequence: str | None = None) -> "JobRequest":
        """Copy the request with other arguments, without checking the other fields again.

        Raises TooLarge, and InvalidRequest for the sequence.
        """
        other = object.__new__(JobRequest)
        new = {"args": args, "args_text": as_text(args), "dedup_key": dedup_key, "sequence": sequence}
        other.__dict__.update(self.__dict__, **new)
        if sequence is not None:
            other._check_sequence()
        return other

    @property
    def kind(self) -> tuple[object, ...]:
        """A key that is equal for requests that differ only in object, arguments and identity."""
        return _kind_of(self)

    @property
    def identity(self) -> tuple[int, uuid.UUID | None]:
        """A key that is equal for identical requests."""
        return self.tenant_id, self.dedup_key


_kind_of: Callable[[JobRequest], tuple[object, ...]] = attrgetter(*JobRequest.KIND)


def check_sequence(name: Any) -> None:
    """Raise InvalidRequest if a sequence cannot have this name."""
    if not isinstance(name, str) or not 0 < len(name) <= MOST_OF_SEQUENCE:
        raise InvalidRequest("sequence", f"must be text of 1 to {MOST_OF_SEQUENCE} characters, not {name!r}")
    check_text(name, "sequence")


def _check_identical(identical: str, delay: float | None) -> None:
    if identical not in IDENTICAL:
        raise InvalidRequest("identical", f"must be one of {', '.join(IDENTICAL)}, not {identical!r}")
    if identical == DEBOUNCE and not delay:
        raise InvalidRequest("delay", "debounce needs one: the job is due so long after the last call")


def _check_seconds(field: str, value: float | None, *, least: float) -> None:
    if value is not None and not is_number(value, least, MAX_SECONDS):
        raise InvalidRequest(field, f"must be a number of seconds from {least} to {MAX_SECONDS:.0f}, not {value!r}")


def _check_whole(field: str, value: int | None, *, least: int) -> None:
    if value is not None and not is_whole(value, least, MAX_WHOLE):
        raise InvalidRequest(field, f"must be a whole number from {least} to {MAX_WHOLE}, not {value!r}")


def _in_utc(field: str, at: datetime) -> datetime:
    """Return the moment in UTC: PostgreSQL does not know all the time zones that Python knows."""
    if not isinstance(at, datetime):
        raise InvalidRequest(field, f"must be a date and time with a time zone, not {at!r}")
    if timezone.is_naive(at):
        raise InvalidRequest(field, "needs a time zone, for example 2030-01-31T09:00:00+01:00")
    try:
        return at.astimezone(UTC)
    except OverflowError:
        return at.replace(tzinfo=UTC)  # within hours of the calendar's ends; the offset does not matter there


def requests_of(some: Iterable[JobRequest]) -> list[JobRequest]:
    """Return the requests as a list. Raises TypeError for other values: the id of a submitted job, or a call itself."""
    requests = list(some)
    for request in requests:
        if not isinstance(request, JobRequest):
            raise TypeError(
                f"{request!r} is no request; write report.async_.execute.request(...), which submits nothing"
            )
    return requests
