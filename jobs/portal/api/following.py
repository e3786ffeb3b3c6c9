"""Follow a job or a batch: send a client, at a bounded pace, the changes that it does not have yet."""

import asyncio
import time
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError, InterfaceError

from jobs import store
from jobs.http import schemas
from jobs.http.batch_schemas import Batch
from jobs.lifecycle import FINAL, Status
from jobs.models import JobRow
from jobs.reading import queries, waiting
from jobs.reading.predictor import starts_of
from jobs.reading.queries import JobState
from jobs.reading.together import Together
from jobs.store import EVERY_TENANT, Progress
from tenants.auth import open_ways

MAX_STREAM_SECONDS = 300.0  # seconds of one stream; the client then connects again, and authenticates again
BEAT = 15.0  # seconds without an event, after which a comment shows proxies and clients that the stream lives
CHECK = 5.0  # seconds between two checks whether the caller still has access
RENEW = 10.0  # seconds between two events `starts` of a waiting job: forecasts are not made more often
RECONNECT = 2000  # milliseconds until a browser tries again


class Gone(Exception):
    """The job or the batch does not exist any more."""


@dataclass(frozen=True)
class Event:
    """A change of a job or a batch.

    name: status, progress, starts or end.
    id: the value that the client sends as `Last-Event-ID`, to go on from this event.
    data: the JSON of the event.
    """

    name: str
    id: str
    data: dict[str, Any]

    def __str__(self) -> str:
        return f"event: {self.name}\nid: {self.id}\ndata: {schemas.text(self.data)}\n\n"


class Watch:
    """The changes of one job for one client.

    seen: the id of the last event that the client has; "" for none.
    """

    def __init__(self, tenant_id: int, job_id: int, seen: str, clock: waiting.Clock = time.monotonic) -> None:
        self._job, self._seen, self._clock = (tenant_id, job_id), seen, clock
        self._starts: dict[str, Any] | None = None
        self._starts_at = clock()  # when the forecast was last read

    async def look(self) -> Event | None:
        """Return the change since the last event; None if there is none. Raises Gone and the errors of the database."""
        state = await waiting.states.ask(self._job)
        if state is not None and _head(_id(state)) == _head(self._seen):
            return self._progress(state) or await self._renewed(state)
        job = await sync_to_async(queries.job)(*self._job)
        if job is None:
            raise Gone
        return await sync_to_async(self.tell)(job)

    def tell(self, job: JobRow) -> Event | None:
        """Return the change since the last event, for a job that has just been read."""
        state = JobState(job.status, job.attempt, job.cancel_requested_at is not None, job.progress, job.progress_note)
        final = state.status in FINAL  # then sent even to a client that has it: no other event follows
        if not final and _head(_id(state)) == _head(self._seen):
            return self._progress(state)
        self._seen = _id(state)
        document = schemas.read_job_values(job)
        self._starts, self._starts_at = document["starts"], self._clock()
        return Event("end" if final else "status", self._seen, document)

    def _progress(self, state: JobState) -> Event | None:
        if _id(state) == self._seen:
            return None
        self._seen = _id(state)
        return Event("progress", self._seen, {"progress": state.progress, "progress_note": state.progress_note})

    async def _renewed(self, state: JobState) -> Event | None:
        """Return an event with the new forecast of its start; None if the job does not wait, or nothing has changed."""
        if state.status != Status.CREATED or self._clock() - self._starts_at < RENEW:
            return None
        self._starts_at = self._clock()
        prediction = await forecasts.ask(self._job)
        if prediction is None or (starts := asdict(prediction)) == self._starts:
            return None
        self._starts = starts
        return Event("starts", self._seen, {"starts": starts})


class BatchWatch:
    """The changes of one batch for one client.

    seen: the id of the last event that the client has; "" for none.
    """

    def __init__(self, tenant_id: int, batch_id: int, seen: str) -> None:
        self._batch, self._seen = (tenant_id, batch_id), seen

    async def look(self) -> Event | None:
        """Return the change since the last event; None if there is none. Raises Gone and the errors of the database."""
        progress = await batches.ask(self._batch)
        if progress is None:
            raise Gone
        return self.tell(progress)

    def tell(self, progress: Progress) -> Event | None:
        """Return the change since the last event, for a batch that has just been read."""
        counts = (progress.total, progress.running, progress.success, progress.error, progress.dead, progress.cancelled)
        now = ".".join(str(number) for number in (*counts, int(progress.closed_at is not None)))
        if now == self._seen and not progress.is_complete:
            return None
        self._seen = now
        return Event("end" if progress.is_complete else "progress", now, Batch.of(progress).dict())


def _progress_of(keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], Progress]:
    """Return the progress of each batch, by tenant and id, if the batch is that tenant's."""
    batches = store.read_batches([batch_id for _, batch_id in keys], tenant_id=EVERY_TENANT, most=len(keys))
    return {(batch.tenant_id, batch.id): batch for batch in batches}


forecasts = Together(starts_of, every=waiting.LAST_PAUSE)  # of the waiting jobs that clients of this process follow
ways = Together(open_ways, every=CHECK / 10)  # of the callers whose requests wait in this process
batches = Together(_progress_of, every=waiting.FIRST_PAUSE)  # of the batches that clients of this process follow


def _id(state: JobState) -> str:
    """Return the id of an event: 1.running.0.8c736521, from attempt, status, stop request and progress."""
    progress = zlib.crc32(f"{state.progress} {state.progress_note}".encode())
    return f"{state.attempt}.{state.status}.{state.stopping:d}.{progress:08x}"


def _head(event_id: str) -> str:
    """Return an id without the part for the progress."""
    return event_id.rpartition(".")[0]


async def follow(
    event: Event | None,
    look: Callable[[], Awaitable[Event | None]],
    may_know: Callable[[], Awaitable[object]],
    sleep: waiting.Sleep = asyncio.sleep,
    clock: waiting.Clock = time.monotonic,
) -> AsyncGenerator[str, None]:
    """Yield a stream: this event, then the events that `look` finds, until the event `end`, or MAX_STREAM_SECONDS.

    The stream also ends when the caller loses access (`may_know`), or when the server stops.
    While the database is away the stream stays open, and goes on when the database is back.
    """
    began = sent = checked = clock()
    pause = waiting.FIRST_PAUSE
    yield f"retry: {RECONNECT}\n\n"
    while True:
        if event is not None or clock() - sent >= BEAT:
            yield str(event or ":\n\n")
            sent = clock()
        if (event and event.name == "end") or clock() - began >= MAX_STREAM_SECONDS:
            return
        if event and event.name == "status":  # often the next change is near
            pause = waiting.FIRST_PAUSE
        await sleep(pause)
        if waiting.stopping():
            yield ": the server stops\n\n"
            return
        pause = min(pause * waiting.GROWTH, waiting.LAST_PAUSE)
        event = None
        with suppress(DatabaseError, InterfaceError):
            if clock() - checked >= CHECK:
                checked = clock()
                if not await may_know():
                    return
            try:
                event = await look()
            except Gone:
                return
