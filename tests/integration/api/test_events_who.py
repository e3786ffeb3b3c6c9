"""Who may listen to a job's events, for how long, and how many at once."""

from datetime import timedelta

import pytest
from django.test import Client as Browser
from django.utils import timezone

from jobs import store
from jobs.http import throttle
from jobs.lifecycle import Status
from jobs.portal.api import following
from tenants import auth
from tenants.models import ApiKey, Member
from tests.asgi import THREADS, Client
from tests.callers import browser_of
from tests.factories import MemberFactory, TenantFactory, make_job
from tests.integration.api.listening import do, events, path_of, run

pytestmark = pytest.mark.django_db(transaction=True)


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
    mate, stranger = browser_of(MemberFactory(tenant=running.tenant).user), browser_of(MemberFactory().user)
    assert [browser.head(path_of(job)).status_code for browser in (mate, stranger, Browser())] == [200, 404, 401]


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


def change_the_password(member):
    member.user.set_password("correct horse battery")
    member.user.save()


@pytest.mark.parametrize("leave", [leave_the_tenant, change_the_tenant, deactivate, change_the_password])
def test_a_member_who_leaves_is_told_nothing_more_and_a_team_mate_is(listen, running, monkeypatch, leave):
    monkeypatch.setattr(following, "CHECK", 0.0)
    member, mate = MemberFactory(tenant=running.tenant), MemberFactory(tenant=running.tenant)
    cookies = [f"sessionid={browser_of(who.user).cookies['sessionid'].value}" for who in (member, mate)]

    async def conversation():
        client, stays = [listen(path_of(running), Cookie=cookie) for cookie in cookies]
        await client.told("event: status")
        await stays.told("event: status")
        await do(leave, member)
        told = await client.answer()
        await do(store.succeed, running.pk, 1, {}, None)
        return told, await stays.answer()

    ended, stayed = run(conversation)
    assert [name for name, _, _ in events(ended)] == ["status"]
    assert [name for name, _, _ in events(stayed)] == ["status", "end"]


def test_a_listener_holds_no_thread(listen, running):
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
