"""What is asked for: one job, checked. Every refusal of bad input names its field here."""

import hashlib
import json
import math
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

LAST_PRIORITY = 10
MAX_DEPTH = 50  # levels of nesting; deeper values overflow the parsers on the way
MAX_INTEGER_BITS = 10_000  # about 3,000 digits; from 4,300 on Python neither writes nor reads them
MAX_WHOLE = 1_000_000  # MiB, retries
MAX_SECONDS = 366 * 24 * 3600.0  # the longest delay and timeout


class InvalidRequest(ValueError):
    """A job that cannot be accepted. Nothing was stored.

    field: what to correct, as its user knows it ("priority", "args.region").
    message: what is wrong, and what is allowed.
    place: which of several requests it is, from 0; None where that is not known, or there is but one.
    """

    def __init__(self, field: str, message: str, place: int | None = None) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
        self.place = place


class TooManyWaiting(RuntimeError):
    """The tenant has so many jobs waiting that no more are taken. Nothing was stored.

    retry_after: seconds after which asking again makes sense.
    """

    retry_after = 10

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit:,} jobs may wait, and so many do; try again when some have run")
        self.limit = limit


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """A job to submit. Raises InvalidRequest when a value is out of its range.

    delay, timeout: seconds. memory: MiB. at: an aware datetime in the future. max_retries: instead of the policy's own.
    dedup_key: None is never identical to another.
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
    timeout: float | None = None
    memory: int | None = None
    max_retries: int | None = None
    dedup_key: uuid.UUID | None = None

    def __post_init__(self) -> None:
        if (
            not isinstance(self.priority, int)
            or isinstance(self.priority, bool)
            or not 0 <= self.priority <= LAST_PRIORITY
        ):
            raise InvalidRequest(
                "priority", f"must be a whole number from 0 (first) to 10 (last), not {self.priority!r}"
            )
        if self.delay is not None and self.at is not None:
            raise InvalidRequest("delay", "give either delay or at, not both")
        if self.delay is not None:
            _check_seconds("delay", self.delay, least=0)
        if self.timeout is not None:
            _check_seconds("timeout", self.timeout, least=0.1)
        _check_whole("memory", self.memory, least=16)
        _check_whole("max_retries", self.max_retries, least=0)
        if self.at is not None:
            _check_at(self.at)
        if len(self.user_key) > 100:  # noqa: PLR2004
            raise InvalidRequest("user", "must be text of at most 100 characters")
        _as_text(self.user_key, "user")
        _as_text(self.queue, "queue")
        size = len(json.dumps(self.args).encode())
        if size > settings.JOBS_ARGS_MAX_BYTES:
            limit = settings.JOBS_ARGS_MAX_BYTES
            raise InvalidRequest(
                "args", f"take {size} bytes as JSON; at most {limit} bytes ({limit // 1024} KB) are allowed"
            )

    @property
    def deferred(self) -> bool:
        """Whether it is to wait for a moment of its own."""
        return bool(self.delay) or self.at is not None


def _check_seconds(field: str, value: float, *, least: float) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not least <= value <= MAX_SECONDS:  # not a number (nan) lies nowhere
        raise InvalidRequest(field, f"must be a number of seconds from {least} to {MAX_SECONDS:.0f}, not {value!r}")


def _check_whole(field: str, value: int | None, *, least: int) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MAX_WHOLE:
        raise InvalidRequest(field, f"must be a whole number from {least} to {MAX_WHOLE}, not {value!r}")


def _check_at(at: datetime) -> None:
    if not isinstance(at, datetime):
        raise InvalidRequest("at", f"must be a date and time with a time zone, not {at!r}")
    if timezone.is_naive(at):
        raise InvalidRequest("at", "needs a time zone, for example 2030-01-31T09:00:00+01:00")
    ahead = (at - timezone.now()).total_seconds()
    if ahead <= 0:
        raise InvalidRequest("at", f"must be in the future; {at.isoformat()} is past")
    if ahead > MAX_SECONDS:
        raise InvalidRequest("at", f"must be within {MAX_SECONDS / 86400:.0f} days")


def as_json(value: Any, field: str = "args", depth: int = 0) -> Any:
    """The value as JSON gives it back (tuples become lists).

    Raises InvalidRequest, naming the place, for what PostgreSQL's jsonb or JSON itself cannot hold.
    """
    if depth > MAX_DEPTH:
        raise InvalidRequest("args", f"are nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
        raise InvalidRequest(field, "is a number of too many digits")
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidRequest(field, f"{value!r} is not JSON; use a finite number or null")
        return value
    if isinstance(value, str):
        return _as_text(value, field)
    if isinstance(value, (list, tuple)):
        return [as_json(item, f"{field}[{n}]", depth + 1) for n, item in enumerate(value)]
    if isinstance(value, dict):
        return {_as_key(key, field): as_json(item, f"{field}.{key}", depth + 1) for key, item in value.items()}
    raise InvalidRequest(
        field, f"{type(value).__name__} is not JSON; use text, numbers, true/false, null, lists and objects"
    )


def _as_key(key: Any, field: str) -> str:
    if not isinstance(key, str):
        raise InvalidRequest(field, f"has the key {key!r}; keys must be text")
    return _as_text(key, field)


def _as_text(value: str, field: str) -> str:
    if "\x00" in value or (not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value)):
        raise InvalidRequest(field, "holds a NUL or a lone surrogate, which PostgreSQL cannot store")
    return value


def digest(*parts: Any) -> uuid.UUID:
    """A key that is equal for equal parts: 128 bits of SHA-256 over their canonical JSON."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=repr)
    return uuid.UUID(bytes=hashlib.sha256(canonical.encode()).digest()[:16])
