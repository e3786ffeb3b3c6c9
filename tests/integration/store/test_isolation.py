"""The engine's sessions are read committed, whatever the role, the database or the project says. And what they are not
told, a check tells."""

import uuid

import psycopg
import pytest
from django.core.checks import run_checks
from django.db import connection
from psycopg import IsolationLevel

from embedded import postgresql
from jobs import store
from jobs.checks import databases
from jobs.store.session import session
from tests.sql import sql

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["repeatable read", "isolation_level"])
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


def found(identity: str = "jobs.E017") -> list[str]:
    return [one.hint for one in run_checks(tags=["database"], databases=["default"]) if one.id == identity]


def test_beside_a_body(otherwise):
    with store.OwnSession().speaking():
        assert level() == "read committed"


def test_in_a_thread_of_a_workers_parent(otherwise, elsewhere):
    def in_a_thread() -> str:
        store.keep_sessions(uuid.uuid4(), "clock", lock_timeout=1)
        return level()

    assert elsewhere(in_a_thread).result() == "read committed"


def test_a_body_has_the_level_of_its_project(otherwise, elsewhere, as_a_process):
    def in_a_thread() -> str:
        store.name_sessions(uuid.uuid4(), 1)
        return level()

    assert elsewhere(in_a_thread).result() in ("repeatable read", "serializable")


def test_the_check_tells_what_to_say(otherwise):
    [hint] = found()
    assert r"-c default_transaction_isolation=read\ committed" in hint


ODD = {
    "default_transaction_isolation": "serializable",
    "datestyle": "German",  # psycopg reads no moment of it
    "extra_float_digits": "-10",
    "array_nulls": "off",
}


def test_the_sessions_of_this_project_set_isolation_and_formats_themselves(onlooker):
    name = connection.settings_dict["NAME"]
    for setting, value in ODD.items():
        onlooker.execute(f"ALTER DATABASE \"{name}\" SET {setting} = '{value}'")
    connection.close()
    try:
        assert found() == []
        assert level() == "read committed"
        [(moment, seconds, texts)] = sql("SELECT now(), extract(epoch FROM now())::float8, %s::text[]", [[None]])
        assert (moment.timestamp(), texts) == (seconds, [None])
    finally:
        onlooker.execute(f'ALTER DATABASE "{name}" RESET ALL')
        connection.close()


ENCODED = "CREATE DATABASE {} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER 'libc' LOCALE 'C'"


def test_a_database_that_lacks_letters_is_refused(onlooker, monkeypatch):
    name = f"{connection.settings_dict['NAME']}_ascii"
    onlooker.execute(ENCODED.format(name))
    connection.close()
    try:
        with monkeypatch.context() as patch:
            patch.setitem(connection.settings_dict, "NAME", name)
            [hint] = found("jobs.E028")
    finally:
        connection.close()
        onlooker.execute(f"DROP DATABASE {name}")
    assert "ENCODING 'UTF8'" in hint
    assert found("jobs.E028") == []


def test_a_role_that_may_not_do_what_workers_must_hears_what_to_type(onlooker):
    assert found("jobs.W012") == []
    role = f'"of {connection.settings_dict["NAME"]}"'
    [owner] = onlooker.execute("SELECT quote_ident(current_user)").fetchone()
    onlooker.execute(f"CREATE ROLE {role}")
    try:
        onlooker.execute(f"GRANT {role} TO {owner}")
        sql(f"SET ROLE {role}")
        hints = [hint for _, hint in databases.role()]
    finally:
        connection.close()
        onlooker.execute(f"DROP ROLE {role}")
    assert hints == [f"GRANT {owner} TO {role};", f"GRANT pg_signal_backend, pg_read_all_stats TO {role};"]


def test_a_server_or_a_table_without_autovacuum_is_told(onlooker):
    assert found("jobs.W018") == []
    [part, *_] = [
        name
        for (name,) in sql("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'attempts'::regclass")
    ]
    tables = sorted([part, "jobs"])
    try:
        for table in tables:
            onlooker.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = no)")
        assert found("jobs.W018") == [f"ALTER TABLE {table} RESET (autovacuum_enabled);" for table in tables]
    finally:
        for table in tables:
            onlooker.execute(f"ALTER TABLE {table} RESET (autovacuum_enabled)")
    name = connection.settings_dict["NAME"]
    there = connection.get_connection_params() | {"user": postgresql.ADMIN}
    with psycopg.connect(**there, autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" SET track_counts = off')
        connection.close()
        try:
            [hint] = found("jobs.W018")
        finally:
            admin.execute(f'ALTER DATABASE "{name}" RESET track_counts')
            connection.close()
    assert hint.startswith("Set track_counts = on")
