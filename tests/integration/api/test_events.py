"""GET /api/v1/jobs/{id}/events: each change as it happens, for its tenant alone, and nothing is held meanwhile."""

import asyncio
from datetime import timedelta

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from jobs import store
from jobs.engine.upkeep.history import Archive
from jobs.engine.verbs.cancel import cancel
from jobs.http import throttle
from jobs.lifecycle import FINAL, Status
from jobs.models import Forecast, Job
from jobs.portal.api.following import Watch
from jobs.reading import queries
from jobs.store import Seat
from tests.factories import make_job
from tests.integration.api.listening import do, events, path_of, run

pytestmark = pytest.mark.django_db(transaction=True)


def test_each_change_is_told_until_the_end(listen, running):
    async def conversation():
        client = listen(path_of(running), running.tenant)
        await client.told("event: status")
        holder = Seat(running.worker, running.worker_pid)
        await do(store.progress, running.pk, 1, holder, 0.5, "half\nway")
        await client.told("event: progress")
        await do(store.succeed, running.pk, 1, {"rows": 3}, None)
        return await client.answer(), client

    text, client = run(conversation)
    assert client.status == 200
    assert client.headers["Content-Type"] == "text/event-stream"
    assert (client.headers["X-Accel-Buffering"], "private" in client.headers["Cache-Control"]) == ("no", True)
    names, ids, data = zip(*events(text), strict=True)
    assert names == ("status", "progress", "end")
    assert len(set(ids)) == 3
    assert (data[0]["id"], data[0]["status"], data[0]["args"]) == (running.pk, "running", {})
    assert data[1] == {"progress": 0.5, "progress_note": "half\nway"}
    assert (data[2]["status"], data[2]["rows"]) == ("success", 3)


def test_a_wsgi_server_sends_each_event_as_it_comes_in_a_project_that_compresses(listen, running, settings):
    settings.MIDDLEWARE = ["django.middleware.gzip.GZipMiddleware", *settings.MIDDLEWARE]
    headers = {"Authorization": f"Bearer {listen.key(running.tenant)}", "Accept-Encoding": "gzip"}
    stream = Client().get(path_of(running), headers=headers)
    assert not stream.is_async
    try:
        assert next(stream.streaming_content).startswith(b"retry: ")
        assert next(stream.streaming_content).startswith(b"event: status")
        holder = Seat(running.worker, running.worker_pid)
        store.progress(running.pk, 1, holder, 0.5, "half way")
        assert next(stream.streaming_content).startswith(b"event: progress")
        assert throttle.waits[running.tenant_id] == 1
    finally:
        stream.close()
        asyncio.run(do(connections.close_all))
    assert running.tenant_id not in throttle.waits


def test_a_request_to_stop_is_a_change(listen, running):
    async def conversation():
        client = listen(path_of(running), running.tenant)
        await client.told("event: status")
        await do(cancel, running.pk, tenant_id=running.tenant_id)
        text = await client.told('"cancel_requested_at": "')
        client.leave()
        await client.answer()
        return text

    assert [name for name, _, _ in events(run(conversation))] == ["status", "status"]


def test_while_it_waits_a_new_forecast_is_told_every_ten_seconds_at_most(running):
    """And who comes back is told of it, too."""
    job = make_job(running.tenant)
    noon = timezone.now()
    key = {"tenant_id": job.tenant_id, "queue_id": job.queue_id, "user_key": ""}
    said = {"made_at": noon, "reason": "", "places": [[(job.priority << 58) + job.pk, 600.0, 900.0, 300.0, None]]}
    Forecast.objects.create(**key, **said)
    now = [0.0]
    watch = Watch(job.tenant_id, job.pk, "", clock=lambda: now[0])
    first = watch.tell(queries.job(job.tenant_id, job.pk))
    back = Watch(job.tenant_id, job.pk, first.id, clock=lambda: now[0])

    async def look(one, seconds):
        now[0] = seconds
        return await one.look()

    async def conversation():
        same = await look(watch, 10.0)
        await do(Forecast.objects.update, made_at=noon + timedelta(seconds=30))
        soon = await look(watch, 19.9)
        return same, soon, await look(watch, 20.0), await look(watch, 60.0), await look(back, 60.0)

    same, soon, renewed, again, told_back = run(conversation)
    assert (same, soon, again) == (None, None, None)
    assert (renewed.name, renewed.id, renewed.data.keys()) == ("starts", first.id, {"starts"})
    assert renewed.data["starts"]["p50"] == first.data["starts"]["p50"] + timedelta(seconds=30)
    assert told_back == renewed


@pytest.mark.parametrize("status", sorted(FINAL))
def test_a_job_that_has_ended_is_told_at_once_and_once_more_to_whom_knows_it(listen, running, status):
    job = make_job(running.tenant, status)

    async def conversation():
        first = await listen(path_of(job), job.tenant).answer()
        [(_, last, _)] = events(first)
        again = await listen(path_of(job), job.tenant, **{"Last-Event-ID": last}).answer()
        return first, again

    for text in run(conversation):
        [(name, _, data)] = events(text)
        assert (name, data["status"]) == ("end", status)


def test_a_job_in_the_history_is_told_like_any_other(listen, running):
    job = make_job(running.tenant, Status.ERROR, end_time=timezone.now() - timedelta(days=2))
    assert Archive().run() == 1
    [(name, _, data)] = events(run(lambda: listen(path_of(job), job.tenant).answer()))
    assert (name, data["id"], data["status"]) == ("end", job.pk, "error")


@pytest.mark.parametrize(
    ("seen", "expected"),
    [("{id}", []), ("{head}.00000000", ["progress"]), ("0.created.0.00000000", ["status"]), ("nonsense", ["status"])],
)
def test_a_client_that_comes_back_is_told_what_it_missed_and_no_more(running, seen, expected):
    whole = Watch(running.tenant_id, running.pk, "").tell(queries.job(running.tenant_id, running.pk))
    known = seen.format(id=whole.id, head=whole.id.rpartition(".")[0])
    event = Watch(running.tenant_id, running.pk, known).tell(queries.job(running.tenant_id, running.pk))
    assert [event.name] if event else expected == []


def test_a_stream_goes_on_after_the_last_event_that_the_client_has(listen, running):
    async def conversation():
        first = listen(path_of(running), running.tenant)
        [(_, last, _)] = events(await first.told("\n\nevent: status"))
        first.leave()
        await first.answer()
        again = listen(path_of(running), running.tenant, **{"Last-Event-ID": last})
        await again.told("retry:")
        await do(store.succeed, running.pk, 1, {}, None)
        return await again.answer()

    assert [name for name, _, _ in events(run(conversation))] == ["end"]


def test_a_job_that_is_deleted_meanwhile_ends_the_stream(listen, running):
    async def conversation():
        client = listen(path_of(running), running.tenant)
        await client.told("event: status")
        await do(Job.objects.filter(pk=running.pk).delete)
        return await client.answer()

    assert [name for name, _, _ in events(run(conversation))] == ["status"]
