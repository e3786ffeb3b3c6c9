"""Filters that compare a number of a job: how long it ran or waited, and its attempts."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce

from jobs.calls.refusals import InvalidRequest
from jobs.lifecycle import Status

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}  # seconds
EQUAL = "exact"  # for a number only
MAX_ATTEMPT = 2**31 - 1


def _of_run(sign: str, value: str, now: datetime) -> Q:
    """Compare how long the last attempt ran, to its end or now. A job that never started does not match."""
    length = _length("ran", sign, value)
    running = Q(status=Status.RUNNING) & Q((f"start_time__{_turned(sign)}", now - length))
    return running | (Q(end_time__isnull=False) & Q((f"end_time__{sign}", F("start_time") + length)))


def _of_wait(sign: str, value: str, now: datetime) -> Q:
    """Compare how long the last attempt waited, from ready to its start or now, as `listing.waited` tells it."""
    length, turned = _length("waited", sign, value), _turned(sign)
    waits = Q(ready_at__isnull=False) & Q((f"ready_at__{turned}", now - length))
    until = Coalesce("start_time", "end_time", Value(now))
    return waits | (Q(ready_at__isnull=True) & Q((f"waited_since__{turned}", until - length)))


def _of_attempt(sign: str, value: str, now: datetime) -> Q:
    if not re.fullmatch("[0-9]{1,10}", value) or int(value) > MAX_ATTEMPT:
        raise InvalidRequest("attempt", f"must be like >1, <3 or 2, not {value!r}")
    return Q((f"attempt__{sign}", int(value)))


def _length(name: str, sign: str, value: str) -> timedelta:
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([smhd])", value)
    if sign == EQUAL or found is None or (seconds := float(found[1]) * UNITS[found[2]]) > 3650 * UNITS["d"]:
        raise InvalidRequest(name, "must be like >10s, >1m, <2h or <1d (at most ten years)")
    return timedelta(seconds=seconds)


def _turned(sign: str) -> str:
    """Return the sign for the beginning of a length: a longer one began earlier."""
    return {"gt": "lt", "lt": "gt"}[sign]


COMPARED: Mapping[str, Callable[[str, str, datetime], Q]] = {
    "ran": _of_run,
    "waited": _of_wait,
    "attempt": _of_attempt,
}


def comparison(name: str, value: str, now: datetime) -> Q:
    """Return the condition of `ran:>10s`, `waited:<1m` or `attempt:>1`. Raises InvalidRequest.

    value: with > or < before it; a number of attempts may have neither
    now: until when what runs or waits is measured
    """
    sign = {">": "gt", "<": "lt"}.get(value[:1], EQUAL)
    return COMPARED[name](sign, value if sign == EQUAL else value[1:], now)
