"""Limit the request rate of a caller: a client in a loop must not starve the others of the web process."""

import math
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse

from jobs.conf import settings
from jobs.http.codes import ProblemCode
from jobs.http.problems import ProblemError
from plumbing.throttle import Throttle

SECONDS_AT_ONCE = 10  # a burst may have as many requests as the rate allows in so many seconds
STRANGERS, STRANGERS_AT_ONCE = 1.0, 100  # wrong keys from one address: per second, and in a burst

callers, strangers = Throttle(), Throttle()
waits = Counter[int]()  # long polls and event streams open in this process, by tenant
_counting = threading.Lock()  # views in several threads take places, and the event loop gives them back
LATER = 5  # seconds after which a full process may have places again


def admit(caller: str) -> None:
    """Raise a problem if the caller sends requests too fast."""
    rate = settings.JOBS_API_RATE
    if rate and (wait := callers.take(caller, rate, max(rate * SECONDS_AT_ONCE, 1))):
        raise _too_fast(ProblemCode.TOO_MANY_REQUESTS, wait, f"The limit is {rate:g} requests per second")


def refuse_stranger(request: HttpRequest) -> None:
    """Count a wrong key. Raise a problem if too many came from this address."""
    if settings.JOBS_API_RATE and (
        wait := strangers.take(request.META.get("REMOTE_ADDR", ""), STRANGERS, STRANGERS_AT_ONCE)
    ):
        raise _too_fast(ProblemCode.TOO_MANY_WRONG_KEYS, wait, "This address sent too many wrong keys")


class Place:
    """The place of a long poll or an event stream. It counts until `leave`, which may be called twice."""

    def __init__(self, tenant_id: int) -> None:
        """Take the place. Raise a problem if the tenant, or this process, has too many requests that wait."""
        self._tenant_id, self._kept = tenant_id, True
        with _counting:
            if waits[tenant_id] >= settings.JOBS_API_WAITS:
                why = f"At most {settings.JOBS_API_WAITS} of your requests may wait at once"
                raise _too_fast(ProblemCode.TOO_MANY_WAITS, 1, why)
            if waits.total() >= settings.JOBS_API_WAITS_OF_ALL:
                detail = f"Too many requests wait at this server; try again in {LATER} s."
                raise ProblemError(ProblemCode.SERVER_BUSY, detail, headers={"Retry-After": str(LATER)})
            waits[tenant_id] += 1

    def leave(self) -> None:
        with _counting:
            if self._kept:
                self._kept = False
                waits.subtract([self._tenant_id])
                if not waits[self._tenant_id]:
                    del waits[self._tenant_id]


class Waiting(StreamingHttpResponse):
    """A response that waits. Its place is left when it is closed, even if the client has not read it."""

    def __init__(self, place: Place, parts: AsyncIterator[str] | Iterator[str], **more: Any) -> None:
        super().__init__(parts, **more)
        self._place = place

    def close(self) -> None:
        super().close()
        self._place.leave()


def _too_fast(code: ProblemCode, wait: float, why: str) -> ProblemError:
    seconds = math.ceil(wait)
    return ProblemError(code, f"{why}; try again in {seconds} s.", headers={"Retry-After": str(seconds)})
