"""SIGTERM of an idle worker: it has nothing to wait for, so none of its threads keeps it."""

import os
import signal
from pathlib import Path

import pytest

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_idle_worker_stops_as_soon_as_it_is_told_to(start_worker, tmp_path):
    worker = start_worker(concurrency=2)
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(30) == 0
    [log] = map(Path.read_text, tmp_path.glob("default*.log"))
    assert "this clock leads" in log  # all of its threads were at work
    assert "thread did not stop" not in log
