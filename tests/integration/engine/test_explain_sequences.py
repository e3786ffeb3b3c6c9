"""Why a job of a sequence waits, and which one stops the others."""

import pytest

from jobs import async_, store
from jobs.engine.door.unblock import unblock
from jobs.lifecycle import Status
from jobs.models import Job
from jobs.reading.explain import reads
from jobs.reading.explain.explanation import Explanation, Gate, explain
from jobs.store import EVERY_TENANT
from tests.factories import TenantFactory, make_job
from tests.sample.sequenced import pay

pytestmark = pytest.mark.django_db
A = "acct-7"


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=5)


def submit(tenant, count: int) -> list[int]:
    return [async_(pay, tenant=tenant)(account=A) for _ in range(count)]


def explained(job_id: int) -> Explanation:
    found = explain(job_id, tenant_id=EVERY_TENANT)
    assert found is not None
    return found


def test_a_job_names_the_one_before_it_and_how_many_go_first(tenant):
    submit(TenantFactory(), 3)
    first, second, third = submit(tenant, 3)
    assert explained(first).sentence == "It is its turn in the sequence acct-7; the next dispatch unblocks it."
    unblock()
    found = explained(second)
    assert (found.gate, found.used) == (Gate.SEQUENCE, 1)
    assert found.sentence == f"Waits for job {first} (created), the one before it in the sequence acct-7."
    found = explained(third)
    assert (found.gate, found.used) == (Gate.SEQUENCE, 2)
    assert found.sentence == f"Waits for job {second}, the one before it in the sequence acct-7; 2 jobs go first."


def test_a_job_that_waits_for_others_too_names_them_first(tenant):
    [first] = submit(tenant, 1)
    before = make_job(tenant, Status.RUNNING).pk
    last = async_(pay, tenant=tenant, after=before)(account=A)
    found = explained(last)
    assert (found.gate, found.also) == (Gate.BLOCKED, (Gate.SEQUENCE,))
    assert f"{before} (running)" in found.sentence
    assert store.succeed(before, 1, {}, None)
    unblock()
    assert explained(last).gate == Gate.SEQUENCE
    assert explained(first).gate != Gate.SEQUENCE


def test_jobs_of_a_stopped_sequence_name_the_one_that_stops_them_and_it_says_how_many(tenant):
    dead = make_job(tenant, Status.DEAD, sequence=A, sequence_stops=True, last_error="ValueError: no").pk
    assert "it is revived or discarded: no job waits until then. ValueError: no" in explained(dead).sentence
    first, second = submit(tenant, 2)
    submit(TenantFactory(), 1)
    unblock()
    stands = "The sequence acct-7 stands still: job {} has died, and the others wait until it is revived or discarded."
    assert explained(first).sentence == explained(second).sentence == stands.format(dead)
    assert explained(dead).stops == (
        "It stops the sequence acct-7, which goes on when it is revived or discarded: 2 jobs wait until then."
    )


def test_a_dead_job_that_stops_nothing_says_nothing_of_its_sequence(tenant):
    dead = make_job(tenant, Status.DEAD, sequence=A).pk
    assert "sequence" not in explained(dead).sentence


def test_a_place_far_behind_is_not_counted(tenant, monkeypatch):
    monkeypatch.setattr(reads, "MAX_COUNTED_PLACE", 2)
    monkeypatch.setattr("jobs.reading.explain.sequences.MAX_COUNTED_PLACE", 2)
    *_, last = submit(tenant, 5)
    assert explained(last).sentence.endswith("; more than 2 jobs go first.")


def test_a_stranger_learns_nothing_of_a_sequence(tenant):
    first, second = submit(tenant, 2)
    stranger = TenantFactory()
    assert explain(second, tenant_id=stranger.pk) is None
    assert Job.objects.get(pk=first).tenant_id == tenant.pk
