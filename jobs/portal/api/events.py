"""The endpoints that send the changes of a job or a batch as they happen, as server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import StreamingHttpResponse
from ninja import Router

from jobs.http import inputs, throttle
from jobs.http.auth import CallerRequest
from jobs.http.problems import existing
from jobs.portal.api import batches
from jobs.portal.api.following import BatchWatch, Event, Watch, follow, ways
from jobs.reading import queries
from tenants.auth import Way

router = Router(tags=["jobs"])
MEDIA_TYPE = "text/event-stream"
LAST_SEEN = "Last-Event-ID"
DESCRIBED: dict[str, Any] = {
    "parameters": [
        {
            "in": "header",
            "name": LAST_SEEN,
            "schema": {"type": "string"},
            "description": "The id of the last event that you have: the stream goes on from there.",
        }
    ],
    "responses": {
        200: {
            "description": "For a job: `status` and `end` with a Job, `progress` with its `progress` and "
            "`progress_note`, `starts` with its `starts` while it waits. "
            "For a batch: `progress` and `end` with a Batch.",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        }
    },
}


@router.get("jobs/{job_id}/events", url_name="job_events", openapi_extra=DESCRIBED)
def follow_job(request: CallerRequest, job_id: inputs.PathId) -> StreamingHttpResponse:
    """Follow a job: its state now, then each change as a server-sent event, until the event `end`.

    A stream lasts five minutes at most; a browser's EventSource connects again by itself.
    """
    job = existing(queries.job(request.auth.tenant.pk, job_id), "job")
    watch = Watch(job.tenant_id, job.pk, request.headers.get(LAST_SEEN, ""))
    return _answer(request, watch.tell(job), watch.look)


@router.get("batches/{batch_id}/events", url_name="batch_events", openapi_extra=DESCRIBED, tags=["batches"])
def follow_batch(request: CallerRequest, batch_id: inputs.PathId) -> StreamingHttpResponse:
    """Follow a batch: its progress now, then each change as a server-sent event, until the event `end`."""
    progress = batches.batch_of(request.auth.tenant.pk, batch_id)
    watch = BatchWatch(progress.tenant_id, progress.id, request.headers.get(LAST_SEEN, ""))
    return _answer(request, watch.tell(progress), watch.look)


def _answer(
    request: CallerRequest, first: Event | None, look: Callable[[], Awaitable[Event | None]]
) -> StreamingHttpResponse:
    tenant_id = request.auth.tenant.pk
    place = throttle.Place(tenant_id)
    # nginx would hold small parts back, and so would Django's compression; other proxies know the media type.
    headers = {"X-Accel-Buffering": "no", "Content-Encoding": "identity"}
    stream = _stream(request.auth.way, place, first, look)
    parts = stream if isinstance(request, ASGIRequest) else _in_this_thread(stream)
    return throttle.Waiting(place, parts, content_type=MEDIA_TYPE, headers=headers)


def _in_this_thread(stream: AsyncGenerator[str, None]) -> Iterator[str]:
    """Yield the parts as they come, for a WSGI server. Django itself would send all of them at the end."""
    with asyncio.Runner() as runner:
        try:
            while part := runner.run(anext(stream, "")):
                yield part
        finally:
            runner.run(stream.aclose())


async def _stream(
    way: Way, place: throttle.Place, first: Event | None, look: Callable[[], Awaitable[Event | None]]
) -> AsyncGenerator[str, None]:
    """Yield the text of the stream. This runs in the event loop, and holds no thread and no connection."""
    events = follow(first, look, lambda: ways.ask(way))
    try:
        async with aclosing(events):
            async for event in events:
                yield event
    finally:
        place.leave()
