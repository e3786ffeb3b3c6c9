"""The engine's sessions are read committed, whatever the role, the database or the project says."""

import uuid

import pytest
from django.core.checks import run_checks
from django.db import connection
from psycopg import IsolationLevel

from jobs import store
from jobs.store.session import session

pytestmark = pytest.mark.django_db(transaction=True)
LEVELS = ["repeatable read", "serializable"]


@pytest.fixture(params=[*LEVELS, "isolation_level"])
def otherwise(request, onlooker, monkeypatch):
    """The level of the database, or of the project, is another."""
    options = {**connection.settings_dict["OPTIONS"], "options": "-c jit=off"}
    name = connection.settings_dict["NAME"]
    if request.param == "isolation_level":
        options["isolation_level"] = IsolationLevel.SERIALIZABLE
    else:
        onlooker.execute(f"ALTER DATABASE \"{name}\" SET default_transaction_isolation = '{request.param}'")
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)
    connection.close()
    yield
    onlooker.execute(f'ALTER DATABASE "{name}" RESET default_transaction_isolation')
    connection.close()


def level() -> str:
    session().set_autocommit(False)
    with session().cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        [(level,)] = cursor.fetchall()
    session().rollback()
    session().close()
    return level


def found() -> list[str]:
    return [one.hint for one in run_checks(tags=["database"], databases=["default"]) if one.id == "jobs.E017"]


def test_beside_a_body(otherwise):
    with store.OwnSession().speaking():
        assert level() == "read committed"


def test_in_a_thread_of_a_workers_parent(otherwise, elsewhere):
    def in_a_thread() -> str:
        store.keep_sessions(uuid.uuid4(), "clock", lock_timeout=1)
        return level()

    assert elsewhere(in_a_thread).result() == "read committed"


def test_a_body_has_the_level_of_its_project(otherwise, elsewhere):
    def in_a_thread() -> str:
        store.name_sessions(uuid.uuid4(), 1)
        return level()

    assert elsewhere(in_a_thread).result() in LEVELS


def test_the_check_tells_what_to_say(otherwise):
    [hint] = found()
    assert r"-c default_transaction_isolation=read\ committed" in hint


def test_this_project_says_its_own(onlooker):
    name = connection.settings_dict["NAME"]
    onlooker.execute(f"ALTER DATABASE \"{name}\" SET default_transaction_isolation = 'serializable'")
    connection.close()
    try:
        assert found() == []
        assert level() == "read committed"
    finally:
        onlooker.execute(f'ALTER DATABASE "{name}" RESET default_transaction_isolation')
        connection.close()
