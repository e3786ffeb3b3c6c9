"""A light worker that is told to stop in haste, while ends of its seats wait to be settled."""

import os
import signal

import pytest

from jobs.models import Job, Worker
from tests.chaos.freezing import Held, backends, has_ended
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("work", ["light"], indirect=True),
]


def test_a_stop_in_haste_settles_the_ends_in_hand_and_gives_the_others_back(work):
    worker = work.start_worker()
    ended, others = work.submit(12), work.submit(12, "never")
    work.run(ended + others)
    processes = work.pids()
    with Held("LOCK TABLE attempts IN EXCLUSIVE MODE"):
        work.release()
        wait_until(lambda: backends("wait_event_type = 'Lock' AND query ~ '^-- succeed_many'"), "a trip waits")
        os.kill(worker.pid, signal.SIGQUIT)
        wait_until(lambda: all(map(has_ended, processes)), "its processes have ended")
        with pytest.raises(AssertionError, match="in vain"):  # else others would take back what it still settles
            wait_until(Worker.objects.filter(gone_at__isnull=False).exists, "it leaves", limit=1)
    assert worker.wait(30) is not None
    assert Job.objects.filter(pk__in=ended, status="success", attempt=1).exists()  # what was in hand by then
    given_back = Job.objects.filter(pk__in=others).values_list("attempt", "crashes")
    work.start_worker()
    work.run(others, attempt=2)
    assert set(given_back) == {(2, 0)}
    assert work.ended(ended) <= {("success", 1, 0), ("success", 2, 0)}
    assert not Worker.objects.filter(lost=True).exists()
