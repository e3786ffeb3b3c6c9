"""The engine's sessions, and the claim in any session, have the settings that they need, whatever the database says."""

import uuid
from collections.abc import Iterable

import pytest
from django.db import connection, transaction

from jobs import store
from jobs.store.claiming import OUT_OF_LINE
from jobs.store.rows import rows
from jobs.store.session import PLANNED, STATED, session

pytestmark = pytest.mark.django_db(transaction=True)

# Each is something else than what the engine says.
ODD = {
    "default_transaction_isolation": "serializable",
    "jit": "on",
    "statement_timeout": "59s",
    "lock_timeout": "58s",
    "idle_session_timeout": "57s",
    "extra_float_digits": "-10",
    "array_nulls": "off",
    "enable_nestloop": "off",
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "join_collapse_limit": "1",
    "from_collapse_limit": "1",
    "plan_cache_mode": "force_custom_plan",
}
OURS = {name: value.replace("\\", "") for name, value in (STATED | PLANNED).items()}


@pytest.fixture(autouse=True)
def odd(onlooker, monkeypatch):
    """The project says nothing, and the database says all of them."""
    name = connection.settings_dict["NAME"]
    options = {key: value for key, value in connection.settings_dict["OPTIONS"].items() if key != "options"}
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)
    for setting, value in ODD.items():
        onlooker.execute(f"ALTER DATABASE \"{name}\" SET {setting} = '{value}'")
    connection.close()
    assert said(ODD) == ODD
    assert ODD.keys() <= OURS.keys()
    yield
    onlooker.execute(f'ALTER DATABASE "{name}" RESET ALL')
    connection.close()


def said(names: Iterable[str]) -> dict[str, str]:
    """Of the session in which the engine speaks here."""
    with session().cursor() as cursor:
        cursor.execute("SELECT name, current_setting(name) FROM unnest(%s::text[]) AS name", [list(names)])
        return dict(cursor.fetchall())


def test_beside_a_body():
    own = store.OwnSession()
    with own.speaking():
        assert said(OURS) == OURS
        session().close()


def test_in_a_thread_of_a_workers_parent(elsewhere):
    def in_a_thread() -> dict[str, str]:
        store.keep_sessions(uuid.uuid4(), "clock", lock_timeout=1, statement_timeout=10)
        return said(STATED)

    stated = {name: OURS[name] for name in STATED}
    assert elsewhere(in_a_thread).result() == stated | {"lock_timeout": "1s", "statement_timeout": "10s"}


def test_a_body_has_those_of_its_project(elsewhere, as_a_process):
    def in_a_thread() -> dict[str, str]:
        store.name_sessions(uuid.uuid4(), 1)
        return said(ODD)

    assert elsewhere(in_a_thread).result() == ODD


def test_the_claim_says_them_for_its_transaction():
    of_sessions = {"default_transaction_isolation", "idle_session_timeout", "extra_float_digits", "array_nulls"}
    with transaction.atomic():
        rows("knock", **OUT_OF_LINE)
        ours = said(OURS.keys() - of_sessions)
    bounds = {"statement_timeout": "30s", "lock_timeout": "5s"}
    assert ours == {name: value for name, value in OURS.items() if name not in of_sessions} | bounds
    assert said(ODD) == ODD
