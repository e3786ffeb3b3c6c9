"""A session of the engine plans before it comes to the door, and opens no second one in a worker."""

import uuid

import pytest
from django.contrib.postgres.signals import get_hstore_oids
from django.db import DataError, connection, connections

from jobs import store
from jobs.sql import statement
from jobs.store import claiming
from jobs.store.session import session
from jobs.worker.bootstrap import check_schema
from tests.factories import ThingFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def new_session():
    with store.OwnSession().speaking():
        yield session()
        session().close()


def plans(spoken_in) -> dict[str, tuple[int, int]]:
    """Of its statements: how many times it used the plan for any parameters, and one for these."""
    with spoken_in.cursor() as cursor:
        cursor.execute(
            "SELECT split_part(statement, E'\\n', 1), generic_plans, custom_plans FROM pg_prepared_statements"
            " WHERE statement ~ '^-- (fold|claim|start)\\n'"
        )
        return {name: (generic, custom) for name, generic, custom in cursor.fetchall()}


def test_it_plans_while_somebody_else_is_inside(new_session, onlooker, register):
    ThingFactory().async_.echo()
    register()
    new_session.close()
    onlooker.execute("SELECT pg_advisory_lock(hashtext('jobs.door'), place) FROM unnest(ARRAY[0, 1]) AS place")
    store.plan()
    assert plans(new_session) == {"-- fold": (1, 0), "-- claim": (1, 0)}
    onlooker.execute("SELECT pg_advisory_unlock_all()")

    assert len(store.claim()) == 1
    assert plans(new_session) == {"-- fold": (2, 0), "-- claim": (2, 0)}


def test_a_dispatch_plans_before_it_knocks(new_session):
    store.claim()
    assert plans(new_session) == {"-- fold": (2, 0), "-- claim": (2, 0)}


def test_a_session_that_is_opened_again_plans_again(new_session):
    store.plan()
    new_session.close()
    store.plan()
    assert plans(new_session) == {"-- fold": (1, 0), "-- claim": (1, 0)}


def test_a_session_that_could_not_plan_is_not_kept(new_session, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(claiming, "statement", lambda name: statement(name) if name != "claim" else "SELECT 1 / 0")
        with pytest.raises(DataError):
            store.plan()
    assert new_session.connection is None
    assert not store.claim()


def test_a_statement_is_planned_when_it_comes_first_and_never_again(new_session):
    for _ in range(3):
        store.start(1, 1, store.Seat.here(uuid.uuid4()))
    assert plans(new_session) == {"-- start": (3, 0)}


def test_it_opens_no_session_of_djangos_where_the_worker_has_asked_for_types(new_session, monkeypatch):
    connection.close()
    get_hstore_oids.cache_clear()
    check_schema()
    store.plan()
    assert connection.connection is None

    # Nor does one to the server itself, of a web process behind a pooler: there it is Django's.
    monkeypatch.setitem(connections.databases, "direct", connections.databases["default"])
    with store.OwnSession("direct").speaking():
        assert connections["direct"] is session()
    del connections["direct"]
