"""GET /api/v1/jobs/{id}/events: each change as it happens, for its tenant alone, and nothing is held meanwhile."""

import asyncio
import json
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import Client as Browser
from django.utils import timezone

from jobs import queries, store
from jobs.api import following, throttle
from jobs.api.following import Watch
from jobs.engine.cancel import cancel
from jobs.engine.history import Archive
from jobs.lifecycle import FINAL, Status
from jobs.models import Job
from scheduler_project.handler import ThreadedHandler
from tenants import auth
from tenants.models import ApiKey, Member
from tests.asgi import Client
from tests.factories import MemberFactory, TenantFactory, make_job

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 2


@pytest.fixture
def handler() -> Iterator[ThreadedHandler]:
    """With two threads, whose connections are closed afterwards."""
    handler = ThreadedHandler(THREADS)
    yield handler
    together = threading.Barrier(THREADS)
    for _ in range(THREADS):
        handler._threads.submit(lambda: (together.wait(30), connections.close_all()))
    handler._threads.shutdown()


@pytest.fixture
def listen(handler):
    """`listen(path, as_whom)`: a request by a key of that tenant, or with these headers."""

    def listen(path, tenant=None, **headers):
        if tenant is not None:
            headers["Authorization"] = f"Bearer {keys[tenant.pk]}"
        return Client(handler, path, **headers)

    def key(tenant):
        if tenant.pk not in keys:
            keys[tenant.pk] = auth.issue(tenant, "test")[1]
        return keys[tenant.pk]

    keys, listen.key = {}, key
    return listen


@pytest.fixture
def running(listen):
    job = make_job(TenantFactory(name="Owner & Co."), Status.RUNNING)
    listen.key(job.tenant)
    return job


def path_of(job) -> str:
    return f"/api/v1/jobs/{job.pk}/events"


def run(conversation):
    """Run it, and close the connection of the thread that looks."""

    async def whole():
        try:
            return await conversation()
        finally:
            await sync_to_async(connections.close_all)()

    return asyncio.run(whole())


def do(verb, *args, **kwargs):
    """Do it in a thread, as somebody else would."""
    return sync_to_async(verb)(*args, **kwargs)


def events(text):
    """(name, id, data) of each."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            found.append((fields["event"], fields["id"], json.loads(fields["data"])))
    return found


def test_each_change_is_told_until_the_end(listen, running):
    async def conversation():
        client = listen(path_of(running), running.tenant)
        await client.told("event: status")
        await do(store.progress, running.pk, 1, 0.5, "half\nway")
        await client.told("event: progress")
        await do(store.succeed, running.pk, 1, {"rows": 3}, None)
        return await client.answer(), client

    text, client = run(conversation)
    assert client.status == 200
    assert client.headers["Content-Type"] == "text/event-stream"
    assert (client.headers["X-Accel-Buffering"], client.headers["Cache-Control"]) == ("no", "no-store")
    names, ids, data = zip(*events(text), strict=True)
    assert names == ("status", "progress", "end")
    assert len(set(ids)) == 3
    assert (data[0]["id"], data[0]["status"], data[0]["args"]) == (running.pk, "running", {})
    assert data[1] == {"progress": 0.5, "progress_note": "half\nway"}
    assert (data[2]["status"], data[2]["rows"]) == ("success", 3)


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


def test_a_strangers_job_is_answered_as_one_that_does_not_exist(listen, running):
    stranger = TenantFactory()
    listen.key(stranger)

    async def conversation():
        theirs, none = listen(path_of(running), stranger), listen("/api/v1/jobs/999999999/events", stranger)
        return (await theirs.answer(), theirs.status), (await none.answer(), none.status)

    theirs, none = run(conversation)
    assert theirs == none
    assert theirs[1] == 404


def test_a_team_mate_follows_by_its_session_and_a_strangers_member_does_not(running):
    job = make_job(running.tenant, Status.SUCCESS)
    mate, stranger, nobody = Browser(), Browser(), Browser()
    mate.force_login(MemberFactory(tenant=running.tenant).user)
    stranger.force_login(MemberFactory().user)
    assert [browser.head(path_of(job)).status_code for browser in (mate, stranger, nobody)] == [200, 404, 401]


def test_a_parameter_is_refused_as_this_address_takes_none(owner, tenant):
    answer = owner.get(f"{path_of(make_job(tenant))}?wait=3")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "wait")


def test_head_does_not_wait_for_the_end(handler, listen, running):
    async def conversation():
        client = Client(handler, path_of(running), "HEAD", Authorization=f"Bearer {listen.key(running.tenant)}")
        return await client.answer(), client.status, client.headers["Content-Type"]

    assert run(conversation) == ("", 200, "text/event-stream")


def revoke_the_key(job):
    auth.revoke(ApiKey.objects.get(tenant=job.tenant))


def let_the_key_expire(job):
    ApiKey.objects.filter(tenant=job.tenant).update(expires_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("shut", [revoke_the_key, let_the_key_expire])
def test_a_key_that_is_shut_meanwhile_ends_its_stream_and_no_other(listen, running, monkeypatch, shut):
    monkeypatch.setattr(following, "CHECK", 0.0)
    other = make_job(TenantFactory(), Status.RUNNING)
    listen.key(other.tenant)

    async def conversation():
        client, stays = listen(path_of(running), running.tenant), listen(path_of(other), other.tenant)
        await client.told("event: status")
        await stays.told("event: status")
        await do(shut, running)
        told = await client.answer()
        await do(store.succeed, running.pk, 1, {}, None)
        await do(store.succeed, other.pk, 1, {}, None)
        return told, await stays.answer()

    ended, stayed = run(conversation)
    assert [name for name, _, _ in events(ended)] == ["status"]
    assert [name for name, _, _ in events(stayed)] == ["status", "end"]


def leave_the_tenant(member):
    Member.objects.filter(pk=member.pk).delete()


def change_the_tenant(member):
    Member.objects.filter(pk=member.pk).update(tenant=TenantFactory())


def deactivate(member):
    member.user.is_active = False
    member.user.save()


@pytest.mark.parametrize("leave", [leave_the_tenant, change_the_tenant, deactivate])
def test_a_member_who_leaves_is_told_nothing_more(listen, running, monkeypatch, leave):
    monkeypatch.setattr(following, "CHECK", 0.0)
    member = MemberFactory(tenant=running.tenant)
    browser = Browser()
    browser.force_login(member.user)
    cookie = f"sessionid={browser.cookies['sessionid'].value}"

    async def conversation():
        client = listen(path_of(running), Cookie=cookie)
        await client.told("event: status")
        await do(leave, member)
        return await client.answer()

    assert [name for name, _, _ in events(run(conversation))] == ["status"]


def test_whoever_listens_holds_no_thread(listen, running):
    async def conversation():
        clients = [listen(path_of(running), running.tenant) for _ in range(5 * THREADS)]
        for client in clients:
            await client.told("event: status")
        answered = await listen(f"/api/v1/jobs/{running.pk}", running.tenant).answer()
        await do(store.succeed, running.pk, 1, {}, None)
        return answered, [await client.answer() for client in clients]

    answered, streams = run(conversation)
    assert '"status": "running"' in answered
    assert all(events(text)[-1][0] == "end" for text in streams)


def test_a_place_is_free_as_soon_as_its_client_is_gone(listen, running, settings):
    settings.JOBS_API_WAITS = 1

    async def conversation():
        first = listen(path_of(running), running.tenant)
        await first.told("event: status")
        refused = listen(path_of(running), running.tenant)
        await refused.answer()
        first.leave()
        await first.answer()
        assert running.tenant_id not in throttle.waits
        second = listen(path_of(running), running.tenant)
        await second.told("event: status")
        second.leave()
        await second.answer()
        return refused.status, refused.headers["Retry-After"], second.status

    assert run(conversation) == (429, "1", 200)


def test_all_tenants_together_have_so_many_places(owner, tenant, settings, monkeypatch):
    settings.JOBS_API_WAITS_OF_ALL = 1
    job = make_job(tenant, Status.RUNNING)
    monkeypatch.setitem(throttle.waits, TenantFactory().pk, 1)
    for path in (path_of(job), f"/api/v1/jobs/{job.pk}?wait=1"):
        refused = owner.get(path)
        assert (refused.status_code, refused["Retry-After"]) == (503, "5")
        assert refused["Content-Type"] == "application/problem+json"
    assert owner.get(f"/api/v1/jobs/{job.pk}").status_code == 200


def test_a_job_that_is_deleted_meanwhile_ends_the_stream(listen, running):
    async def conversation():
        client = listen(path_of(running), running.tenant)
        await client.told("event: status")
        await do(Job.objects.filter(pk=running.pk).delete)
        return await client.answer()

    assert [name for name, _, _ in events(run(conversation))] == ["status"]
