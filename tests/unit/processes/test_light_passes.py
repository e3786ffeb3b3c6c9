"""What a feeder carries on from one pass to the next."""

from types import SimpleNamespace

import pytest

from jobs.store import Pass
from jobs.worker.light import passes


@pytest.mark.parametrize(("unblocks", "skipped"), [(False, {"1:2"}), (True, set())])
def test_a_lane_with_locked_jobs_is_skipped_until_a_job_is_unblocked(monkeypatch, unblocks, skipped):
    """That job may stand in such a lane."""
    monkeypatch.setattr(passes, "unblock_safely", lambda: unblocks)
    done = Pass()
    done.more = done.ends = True
    done.locked = frozenset({"1:2"})
    of_feeder = passes.Passes("light")
    of_feeder.take(SimpleNamespace(done=done))
    assert of_feeder.asked
    assert of_feeder.options() == {"locked": skipped, "borrow": False}
