"""How fast a caller may ask: a client in a loop must not take the web process from the others."""

import math
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from django.conf import settings
from django.http import HttpRequest

from jobs.api.problems import ProblemError
from tenants.throttle import Throttle

SECONDS_AT_ONCE = 10  # so many seconds' worth of requests may come at once
STRANGERS, STRANGERS_AT_ONCE = 1.0, 100  # wrong keys from one address: a second, and at once

callers, strangers = Throttle(), Throttle()
waits = Counter[int]()  # long polls open in this process, by tenant


def admit(caller: str) -> None:
    """Raise the problem of a caller who asks too fast."""
    rate = settings.API_RATE
    if rate and (wait := callers.take(caller, rate, max(rate * SECONDS_AT_ONCE, 1))):
        raise _too_fast(wait, f"At most {rate:g} requests a second are answered")


def admit_stranger(request: HttpRequest) -> None:
    """Raise the problem of an address from which too many wrong keys came."""
    if settings.API_RATE and (wait := strangers.wait(_address(request), STRANGERS, STRANGERS_AT_ONCE)):
        raise _too_fast(wait, "Too many wrong keys came from this address")


def note_stranger(request: HttpRequest) -> None:
    """A wrong key came."""
    if settings.API_RATE:
        strangers.take(_address(request), STRANGERS, STRANGERS_AT_ONCE)


@asynccontextmanager
async def waiting(tenant_id: int) -> AsyncIterator[None]:
    """While a long poll is open, it counts."""
    waits[tenant_id] += 1
    try:
        yield
    finally:
        waits[tenant_id] -= 1
        if not waits[tenant_id]:
            del waits[tenant_id]


def admit_wait(tenant_id: int) -> None:
    """Raise the problem of a tenant that has too many long polls open."""
    if waits[tenant_id] >= settings.API_WAITS:
        raise _too_fast(1, f"{settings.API_WAITS} requests of yours wait already")


def _address(request: HttpRequest) -> str:
    address: str = request.META.get("REMOTE_ADDR", "")
    return address


def _too_fast(wait: float, why: str) -> ProblemError:
    seconds = math.ceil(wait)
    return ProblemError(429, f"{why}; ask again in {seconds} s.", headers={"Retry-After": str(seconds)})
