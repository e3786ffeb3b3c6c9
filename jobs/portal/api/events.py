"""The endpoint of a job's changes as they happen: server-sent events, beside the long poll."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from django.http import StreamingHttpResponse
from ninja import Router

from jobs.models import AnyJob
from jobs.portal.api import inputs, schemas, throttle
from jobs.portal.api.auth import CallerRequest
from jobs.portal.api.following import CHECK, Watch, follow
from jobs.portal.api.problems import not_found
from jobs.reading import queries
from jobs.reading.together import Together
from tenants.auth import Way, open_ways

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
            "description": "Events `status` and `end` with a Job, `progress` with its `progress` and `progress_note`.",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        }
    },
}
ways = Together(open_ways, every=CHECK / 10)  # of all callers with a stream in this process


@router.get(
    "jobs/{job_id}/events",
    url_name="job_events",
    response={frozenset({401, 403, 404, 405, 422}): schemas.Problem},
    openapi_extra=DESCRIBED,
)
def follow_job(request: CallerRequest, job_id: inputs.JobId) -> StreamingHttpResponse:
    """Follow a job: its state now, then each change as a server-sent event, until the event `end`.

    A stream lasts five minutes at most; a browser's EventSource connects again by itself.
    """
    inputs.refuse_unknown_names(request, ())
    job = queries.job(request.auth.tenant.pk, job_id)
    if job is None:
        raise not_found()
    throttle.admit_wait(job.tenant_id)
    # nginx would keep small parts back; other proxies know the media type.
    headers = {"X-Accel-Buffering": "no"}
    stream = _stream(request.auth.way, job, request.headers.get(LAST_SEEN, ""))
    return StreamingHttpResponse(stream, content_type=MEDIA_TYPE, headers=headers)


async def _stream(way: Way, job: AnyJob, seen: str) -> AsyncIterator[str]:
    """The text of the stream. It runs in the event loop, and holds no thread and no connection."""
    watch = Watch(job.tenant_id, job.pk, seen)
    events = follow(watch.tell(job), watch.look, lambda: ways.ask(way))
    async with throttle.waiting(job.tenant_id), aclosing(events):
        async for event in events:
            yield event
