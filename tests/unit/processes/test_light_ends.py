"""After the end of an attempt the next job of its lane may follow in its process, if that one is open to all."""

from time import monotonic
from types import SimpleNamespace

import pytest

from jobs.store.trips import Success
from jobs.worker.light.ends import Ends
from jobs.worker.light.processes import HeldAttempt, RemoteProcess


@pytest.mark.parametrize(("kind", "goes_on"), [("open", True), ("apart", False), ("leaves", False)])
def test_no_job_follows_in_a_process_that_is_kept_or_leaves(kind, goes_on):
    process = RemoteProcess(7, 0, wire=None)
    process.is_apart = kind == "apart"
    if kind == "leaves":
        process.leave()
    ends, now = Ends(), monotonic()
    ends.take(1, go_on=True)
    for number, since in ((1, now - 0.2), (2, now - 0.1)):  # the seat of the first is given to others
        job = SimpleNamespace(id=number, attempt=1)
        ends.note(process, HeldAttempt(job, since, since), Success(job, {}))
    assert [end.success.goes_on for end in ends.take(2, go_on=True)] == [False, goes_on]
