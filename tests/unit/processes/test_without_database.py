"""What the log says while the database is away: at once, once a minute, and when it is back."""

import pytest
from django.db import OperationalError

from jobs.worker.threads import without_database
from jobs.worker.threads.without_database import Database


def test_an_outage_is_told_at_once_then_once_a_minute_and_at_its_end(monkeypatch, caplog):
    now = [0.0]
    monkeypatch.setattr(without_database.time, "monotonic", lambda: now[0])
    database = Database("upkeep")
    for _ in range(121):
        with database:
            raise OperationalError("connection failed: refused\nIs it running?")
        assert database.away
        now[0] += 1
    for _ in range(2):
        with database:
            pass
        assert not database.away
    assert caplog.messages == [
        "thread without database thread=upkeep error=connection failed: refused",
        "thread without database thread=upkeep times=61 error=connection failed: refused",
        "thread without database thread=upkeep times=121 error=connection failed: refused",
        "thread has the database again thread=upkeep seconds=121",
    ]


def test_other_errors_end_the_thread():
    with pytest.raises(LookupError), Database("clock"):
        raise LookupError
