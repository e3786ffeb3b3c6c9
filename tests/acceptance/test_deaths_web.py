"""The process that submits dies right after its commit: before it dispatches, or before it has sent what it claimed.

Each death is exact: what would have come after it is left out.
"""

import pytest

from jobs.engine.door import dispatch
from jobs.engine.process import runtime
from jobs.models import Job
from jobs.worker import message
from tests.acceptance.following import ended
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run, Thing

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long(
        "a web process that dies between its steps; tests/integration/engine/test_recover.py sends again what is lost"
    ),
]


@pytest.fixture
def thing(start_worker) -> Thing:
    """Of a tenant with room for all, and a worker is there."""
    start_worker(concurrency=3)
    return ThingFactory(tenant=TenantFactory(queue__num_slots=5))


def check(ids: list[int]) -> None:
    for job_id in ids:
        job = ended(job_id)
        assert (job.status, job.attempt, job.crashes) == ("success", 1, 0)
        assert Run.objects.filter(job_id=job_id).count() == 1
    assert not Job.objects.filter(slot__isnull=False).exists()


def test_killed_between_its_commit_and_the_dispatch(thing, monkeypatch):
    monkeypatch.setattr(dispatch, "on_commit", lambda: None)
    job_id = thing.async_.echo()
    assert Job.objects.get(pk=job_id).attempt == 0 or ended(job_id)  # unless the clock's net was quicker than we
    check([job_id])


@pytest.mark.parametrize("sent", [0, 1, 2])
def test_killed_between_the_claim_and_the_last_hand_over(register, start_worker, sent):
    register(concurrency=3)  # only a row, so that it is we who claim, and no worker's dispatch
    thing = ThingFactory(tenant=TenantFactory(queue__num_slots=5))
    runtime.change(carrier=lambda claimed: message.hand_over(claimed[:sent]))
    try:
        ids = thing.async_.echo.many([{"value": n} for n in range(3)])
    finally:
        runtime.change(carrier=message.hand_over)
    assert not Job.objects.filter(pk__in=ids, status="created").exists()
    start_worker(concurrency=3)
    check(ids)
