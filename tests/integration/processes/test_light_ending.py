"""`ending()` in a seat: an end that is committed counts, whatever becomes of the body that waits for it."""

import threading

import pytest

from jobs import current_job, in_thread
from jobs.models import Job
from jobs.store import results
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("where", ["in the block", "after the block"])
def test_a_coroutine_that_is_cancelled_while_its_thread_goes_on_has_ended_if_its_block_has(here, begin, where):
    """In the block its statements are cancelled, too: one of them, or the commit is faster, and it has ended."""
    inside, goes_on = threading.Event(), threading.Event()

    def wait(here: str) -> None:
        if here == where:
            inside.set()
            goes_on.wait(10)

    def end() -> None:
        with current_job().ending(result=[1]):
            Run.objects.create(job_id=current_job().id, attempt=1, pid=0)
            wait("in the block")
        wait("after the block")

    async def body(self) -> None:
        await in_thread(end)

    [job_id] = begin(body)
    assert inside.wait(10)
    Job.objects.filter(pk=job_id, status="running").update(cancel_requested_at="2026-01-01T00:00:00Z")
    attempt = here.seats._attempts[job_id, 1]
    here.on_loop(here.seats.cancel, [attempt.key])
    wait_until(lambda: attempt.lane._sessions._interrupted, "its thread is interrupted")
    goes_on.set()
    outcome = here.outcome(job_id)
    job = Job.objects.get(pk=job_id)
    has_ended = job.status == "success"
    assert has_ended or (job.status, where) == ("cancelled", "in the block")
    assert (outcome.has_ended, outcome.error is None) == (has_ended, has_ended)
    assert Run.objects.filter(job_id=job_id).count() == has_ended
    assert results.load(job) == (results.Result([1]) if has_ended else None)
