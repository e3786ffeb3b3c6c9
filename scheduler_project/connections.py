"""Limit the connections of a web process whose requests do not arrive: their time, and their number of open files.

uvicorn waits for the head of a request without a limit. The handler itself limits the time of a body. Behind a proxy
with time limits no such request arrives here.
"""

import asyncio
import resource
from functools import cache
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from jobs import telemetry

HEAD_SECONDS = 10.0  # from the connection, or the last answer, to the end of a request's head
MOST_ARRIVING = 1000  # connections whose next request has not arrived: then the oldest is closed


def raise_file_limit() -> None:
    """Allow as many open files as the system permits: the usual soft limit, 1,024, is for programs with select()."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))


@cache
def most_arriving() -> int:
    """Return how many connections may wait for a request. The others are for event streams and served requests."""
    return min(MOST_ARRIVING, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)


class Connection(H11Protocol):
    arriving: dict["Connection", None] = {}  # all of this process whose request has not arrived, the oldest first
    told_at = 0.0  # the moment of the last log line about a closed connection
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._arrived()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body:
            self._arrived()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        served = not self.cycle.response_complete and not self.cycle.more_body  # the next request, read already
        if not served and not self.transport.is_closing():
            self._await_request()

    def shutdown(self) -> None:
        super().shutdown()
        from jobs.reading import waiting  # late: this module is imported before Django is set up

        waiting.stop()  # after 3 s uvicorn cuts off unanswered requests, with a status and no body

    def _await_request(self) -> None:
        self._arrived()
        self.arriving[self] = None
        self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up_head, self.cycle)
        if len(self.arriving) > most_arriving():
            self._make_room()

    def _arrived(self) -> None:
        self.arriving.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()

    def _give_up_head(self, last: Any) -> None:
        if self.cycle is last and (last is None or last.response_complete):  # no head has come since
            self.transport.close()

    def _make_room(self) -> None:
        oldest = next(iter(self.arriving))
        oldest._arrived()
        oldest.transport.abort()
        if (now := self.loop.time()) > Connection.told_at + 1:
            Connection.told_at = now
            telemetry.noticed("requests that do not arrive are closed", arriving=len(self.arriving))
