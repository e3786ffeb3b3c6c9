"""The web process: views share a few threads that stay, and whoever waits holds none of them."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, connections
from django.http import HttpResponse, StreamingHttpResponse
from django.test import override_settings
from django.urls import path

from jobs.lifecycle import Status
from scheduler_project import handler as handler_module
from scheduler_project.handler import ThreadedHandler
from tenants import auth
from tests.asgi import THREADS, Client, two_threads
from tests.factories import TenantFactory, make_job
from tests.sql import sql, value

pytestmark = pytest.mark.django_db(transaction=True)

told: list[Any] = []
gate = threading.Event()


def which_thread(request):
    told.append(threading.get_ident())
    return HttpResponse("here")


def session(request):
    """Of the database, by its number."""
    return HttpResponse(str(value("SELECT pg_backend_pid()")))


def stream(request):
    """Tells something, and then nothing more, until its reader is gone."""

    async def parts():
        yield "begun"
        try:
            await asyncio.Event().wait()
        finally:
            told.append("ended")

    return StreamingHttpResponse(parts())


def wait(request):
    """As for a lock: it holds its thread until the gate is open."""
    told.append("waits")
    assert gate.wait(30)
    return HttpResponse("waited")


def fail(request):
    raise RuntimeError("on purpose")


urlpatterns = [path(view.__name__, view) for view in (which_thread, session, stream, wait, fail)]


@pytest.fixture
def handler() -> Iterator[ThreadedHandler]:
    told.clear()
    gate.clear()
    with two_threads() as handler:
        yield handler


@override_settings(ROOT_URLCONF=__name__)
def test_views_share_the_threads_and_their_connections(handler):
    async def ask():
        await asyncio.gather(*(Client(handler, "/which_thread").answer() for _ in range(50)))
        return {await Client(handler, "/session").answer() for _ in range(20)}

    sessions = asyncio.run(ask())
    assert len(told) == 50
    assert len(set(told)) <= THREADS
    assert threading.get_ident() not in told
    assert len(sessions) <= THREADS


@override_settings(ROOT_URLCONF=__name__)
def test_readers_of_streams_hold_no_thread(handler):
    async def ask():
        readers = [Client(handler, "/stream") for _ in range(3 * THREADS)]
        for reader in readers:
            await asyncio.wait_for(reader.began.wait(), 30)
        answer = await Client(handler, "/which_thread").answer()
        for reader in readers:
            reader.leave()
        return answer, [await reader.answer() for reader in readers]

    answer, streamed = asyncio.run(ask())
    assert answer == "here"
    assert streamed == ["begun"] * 3 * THREADS
    assert told[1:] == ["ended"] * 3 * THREADS, "a stream ends when its reader hangs up"


@override_settings(ROOT_URLCONF=__name__)
def test_requests_of_one_caller_that_wait_in_their_threads_stop_nobody_else(handler):
    """Half of the threads are its own: by key, by session, or as one of those who have neither."""

    async def ask(who, others):
        told.clear()
        gate.clear()
        waiting = [Client(handler, "/wait", **who) for _ in range(3 * THREADS)]
        async with asyncio.timeout(30):
            while not told:
                await asyncio.sleep(0.01)
        answers = [await Client(handler, "/which_thread", **other).answer() for other in others]
        ready = await Client(handler, "/readyz").answer()
        assert told.count("waits") == THREADS // 2
        gate.set()
        return answers, ready, [await one.answer() for one in waiting]

    callers = [{"Authorization": "Bearer a"}, {"Authorization": "Bearer b"}, {"Cookie": "sessionid=a"}, {}]
    for who in callers:
        answers, ready, waited = asyncio.run(ask(who, [other for other in callers if other != who]))
        assert (answers, ready) == (["here"] * 3, "ready\n")
        assert waited == ["waited"] * 3 * THREADS, "each has its turn"
    assert not handler._shares._turns, "nothing is kept of those who are gone"


@override_settings(ROOT_URLCONF=__name__)
def test_probes_wait_for_no_view(handler):
    async def ask():
        waiting = [Client(handler, "/wait", Authorization=f"Bearer {n}") for n in range(3 * THREADS)]
        async with asyncio.timeout(30):
            while told.count("waits") < THREADS:
                await asyncio.sleep(0.01)
        ready = await Client(handler, "/readyz").answer()
        gate.set()
        return ready, [await one.answer() for one in waiting]

    assert asyncio.run(ask()) == ("ready\n", ["waited"] * 3 * THREADS)


@override_settings(ROOT_URLCONF=__name__)
def test_a_connection_that_the_server_has_cut_is_replaced_before_anybody_meets_it(handler, settings):
    async def ask():
        before = {await Client(handler, "/session").answer() for _ in range(10)}
        await sync_to_async(cut, thread_sensitive=False)(before)
        clients = [Client(handler, "/session") for _ in range(10)]
        return before, {(await client.answer(), client.status) for client in clients}

    def cut(sessions):
        for session in sessions:
            sql("SELECT pg_terminate_backend(%s, 5000)", [int(session)])
        connection.close()

    before, after = asyncio.run(ask())
    assert {status for _, status in after} == {200}
    assert before.isdisjoint({session for session, _ in after})


@override_settings(ROOT_URLCONF=__name__)
def test_a_view_that_fails_is_answered_with_500(handler, caplog):
    async def ask():
        client = Client(handler, "/fail")
        await client.answer()
        return client.status

    assert asyncio.run(ask()) == 500
    assert "on purpose" in caplog.text


def test_a_static_file_is_answered_whole(handler):
    async def ask():
        client = Client(handler, "/static/admin/css/base.css")
        return await client.answer(), client.status

    body, status = asyncio.run(ask())
    assert status == 200
    assert "DJANGO" in body.upper()


def test_a_request_with_two_lengths_is_refused_and_its_connection_closed(handler, subtests):
    async def ask(address):
        client = Client(handler, address, "POST", **{"Content-Length": "5", "Transfer-Encoding": "chunked"})
        return await client.answer(), client

    for address in ("/api/v1/jobs", "/jobs/"):
        with subtests.test(address):
            told, client = asyncio.run(ask(address))
            assert (client.status, client.headers["Connection"]) == (400, "close")
            assert "Content-Length and Transfer-Encoding exclude each other" in told


def test_a_body_that_does_not_arrive_is_given_up(handler, monkeypatch, subtests):
    monkeypatch.setattr(handler_module, "BODY_SECONDS", 0.01)

    class Half(Client):
        async def _receive(self):
            if self._requested:
                return await super()._receive()
            self._requested = True
            return {"type": "http.request", "body": b"{", "more_body": True}

    async def ask(address):
        client = Half(handler, address, "POST")
        return await client.answer(), client

    for address in ("/api/v1/jobs", "/jobs/"):
        with subtests.test(address):
            told, client = asyncio.run(ask(address))
            assert (client.status, client.headers["Connection"]) == (408, "close")
            assert "The body did not arrive in time." in told


def test_only_http_is_served(handler):
    with pytest.raises(ValueError, match="not lifespan"):
        asyncio.run(handler({"type": "lifespan"}, None, None))


def test_a_client_that_waits_for_jobs_leaves_the_threads_to_others(handler):
    tenant = TenantFactory()
    job = make_job(tenant, Status.RUNNING)
    _, token = auth.issue(tenant, "test")
    bearer = {"Authorization": f"Bearer {token}"}

    async def ask():
        waiting = [Client(handler, f"/api/v1/jobs/{job.pk}?wait=30", **bearer) for _ in range(5 * THREADS)]
        other = Client(handler, f"/api/v1/jobs/{job.pk}", **bearer)
        answer = await other.answer()
        kept_waiting = not any(client.task.done() for client in waiting)
        for client in waiting:
            client.leave()
            await client.answer()
        await sync_to_async(connections.close_all)()
        return answer, kept_waiting

    answer, kept_waiting = asyncio.run(ask())
    assert '"status": "running"' in answer
    assert kept_waiting
