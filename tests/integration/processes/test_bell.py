"""The bell of a light pool hears again after its session was cut."""

import select

import pytest

from jobs import store
from jobs.worker.light import bell
from jobs.worker.light.bell import Bell
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def readable(file: int) -> bool:
    return bool(select.select([file], [], [], 0)[0])


def test_a_bell_is_heard_by_its_own_pool_and_again_after_its_session_was_cut(onlooker, monkeypatch):
    monkeypatch.setattr(bell, "AGAIN", 0.05)
    own, other = Bell("mail"), Bell("maps")
    file = own.file()
    assert file is not None and other.file() is not None
    store.ring(["mail"])
    wait_until(lambda: readable(file), "the ring arrives")
    assert (own.rung(), other.rung()) == ((True, False), (False, False))
    onlooker.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LISTEN jobs_bell%'"
        " AND datname = current_database() AND pid <> pg_backend_pid()"
    )
    wait_until(lambda: readable(file), "the cut is seen")
    wait_until(lambda: own.rung() == (True, True), "it says that a ring may be lost")
    assert own.file() is None, "nobody watches the old descriptor any more"
    wait_until(own.file, "it listens again")
    store.ring(["mail"])
    wait_until(lambda: own.rung() == (True, False), "the next ring arrives")
    own.close()
    other.close()
