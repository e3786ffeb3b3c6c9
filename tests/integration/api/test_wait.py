"""GET /api/v1/jobs/{id}?wait=: answered when the status changes, without a thread held meanwhile."""

import asyncio
import json
import time

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient

from jobs.engine.verbs.cancel import cancel
from jobs.lifecycle import FINAL, Status
from jobs.models import Job
from jobs.reading import queries, waiting
from jobs.reading.together import Together
from jobs.store import EVERY_TENANT
from tenants import auth
from tenants.models import ApiKey
from tests.factories import TenantFactory, make_job


class Time:
    """A clock that moves only while somebody sleeps."""

    def __init__(self):
        self.now = 100.0
        self.sleeps = []

    async def sleep(self, seconds):
        self.sleeps.append(seconds)
        self.now += seconds

    def wait(self, statuses, seen=None, seconds=20.0):
        """Wait while the statuses are read one after the other; the last one stays. Seconds waited."""
        left = list(statuses)

        async def read():
            return left.pop(0) if len(left) > 1 else left[0]

        start = self.now
        asyncio.run(waiting.until_changed(read, seen, seconds, sleep=self.sleep, clock=lambda: self.now))
        return self.now - start


def test_the_wait_ends_with_the_first_other_status():
    time = Time()
    time.wait(["created", "created", "queued"])
    assert len(time.sleeps) == 2


def test_the_wait_is_over_when_the_time_is():
    assert Time().wait(["running"], seconds=7.3) == pytest.approx(7.3)


def test_looks_grow_rarer_from_a_twentieth_to_half_a_second():
    time = Time()
    time.wait(["running"], seconds=10)
    full = time.sleeps[:-1]  # the last one is cut by the deadline
    assert full[0] == 0.05
    assert full == sorted(full)
    assert full[-1] == 0.5
    assert len(full) < 30


@pytest.mark.parametrize("status", [*sorted(FINAL), None])
def test_a_job_that_cannot_change_is_not_waited_for(status):
    assert Time().wait([status]) == 0


def test_a_status_that_has_changed_since_it_was_seen_is_not_waited_for():
    assert Time().wait(["running"], seen="queued") == 0
    assert Time().wait(["running", "running", "success"], seen="running") > 0


def test_a_server_that_stops_keeps_no_client_waiting(monkeypatch):
    monkeypatch.setattr(waiting, "stopping", lambda: True)
    assert Time().wait(["running"]) == 0


@pytest.fixture
def answer(transactional_db):
    """Asks as the owner of a running job would, in the event loop of this test."""

    def ask(tenant, path):
        _, token = auth.issue(tenant, "test")
        began = time.monotonic()
        response = async_to_sync(AsyncClient().get)(path, headers={"Authorization": f"Bearer {token}"})
        body = async_to_sync(whole)(response) if response.streaming else response.content
        return json.loads(body), time.monotonic() - began

    return ask


async def whole(response) -> bytes:
    return b"".join([part async for part in response])


def test_a_long_poll_is_answered_as_soon_as_the_job_moves_on(answer, monkeypatch):
    tenant = TenantFactory()
    job = make_job(tenant, Status.CREATED)
    looks = []

    def look_and_cancel_meanwhile(asked):
        found = queries.states(asked)
        looks.append(found[tenant.pk, job.pk].status)
        if len(looks) == 2:
            assert cancel(job.pk, tenant_id=EVERY_TENANT)
        return found

    monkeypatch.setattr(waiting, "states", Together(look_and_cancel_meanwhile, every=0.01))
    body, seconds = answer(tenant, f"/api/v1/jobs/{job.pk}?wait=30")
    assert looks == ["created", "created", "cancelled"]
    assert body["status"] == "cancelled"
    assert seconds < 20


def test_a_key_that_is_revoked_meanwhile_is_told_nothing_that_came_after(answer, monkeypatch):
    tenant = TenantFactory()
    job = make_job(tenant, Status.CREATED)

    def revoke_and_change(asked):
        auth.revoke(ApiKey.objects.get(tenant=tenant))
        assert cancel(job.pk, tenant_id=EVERY_TENANT)
        return queries.states(asked)

    monkeypatch.setattr(waiting, "states", Together(revoke_and_change, every=0.01))
    body, _ = answer(tenant, f"/api/v1/jobs/{job.pk}?wait=30")
    assert (body["id"], body["status"]) == (job.pk, "created")


def test_a_long_poll_without_a_change_answers_with_the_job_as_it_is(answer):
    tenant = TenantFactory()
    job = make_job(tenant, Status.RUNNING)
    body, seconds = answer(tenant, f"/api/v1/jobs/{job.pk}?wait=0.2")
    assert body["status"] == "running"
    assert 0.2 <= seconds < 20


def test_a_change_that_was_missed_is_answered_at_once(answer):
    tenant = TenantFactory()
    job = make_job(tenant, Status.RUNNING)
    body, seconds = answer(tenant, f"/api/v1/jobs/{job.pk}?wait=30&seen=queued")
    assert body["status"] == "running"
    assert seconds < 20


def test_a_stranger_is_not_kept_waiting(answer):
    job = make_job(TenantFactory(), Status.RUNNING)
    problem, seconds = answer(TenantFactory(), f"/api/v1/jobs/{job.pk}?wait=30")
    assert problem["status"] == 404
    assert seconds < 20


def test_a_job_that_is_gone_meanwhile_is_told_as_it_was_last_seen(answer, monkeypatch):
    tenant = TenantFactory()
    job = make_job(tenant, Status.RUNNING)

    def look_when_it_is_gone(asked):
        Job.objects.filter(pk=job.pk).delete()
        return queries.states(asked)

    monkeypatch.setattr(waiting, "states", Together(look_when_it_is_gone, every=0.01))
    body, seconds = answer(tenant, f"/api/v1/jobs/{job.pk}?wait=30")
    assert (body["id"], body["status"]) == (job.pk, "running")
    assert seconds < 20


@pytest.mark.django_db
def test_all_who_wait_look_with_one_statement_and_each_sees_its_own(django_assert_num_queries):
    running, created = make_job(TenantFactory(), Status.RUNNING), make_job(TenantFactory(), Status.CREATED)
    asked = [(running.tenant_id, running.pk), (created.tenant_id, created.pk), (created.tenant_id, running.pk)] * 30

    async def look_together():
        return await asyncio.gather(*(waiting.status_reader(*of)() for of in asked))

    with django_assert_num_queries(1):
        assert async_to_sync(look_together)() == ["running", "created", None] * 30


@pytest.mark.django_db
def test_a_look_costs_one_query(django_assert_num_queries):
    job = make_job(TenantFactory(), Status.RUNNING)
    with django_assert_num_queries(1):
        status = async_to_sync(waiting.status_reader(job.tenant_id, job.pk))()
    assert status == "running"
