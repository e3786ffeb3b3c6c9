"""Which errors of the database may pass: those of its state, in whatever class they come."""

from collections.abc import Callable

import psycopg
import pytest
from django.db import Error, connection, transaction

from jobs.store import may_pass
from jobs.store.away import told
from tests.sql import sql
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def read_only() -> None:
    with transaction.atomic():
        sql("SET TRANSACTION READ ONLY")
        sql("CREATE TABLE other ()")


def cut() -> None:
    sql("SELECT pg_terminate_backend(pg_backend_pid())")


def idle_in_a_transaction() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '1ms'")
        left = connection.connection.info.backend_pid
        # Not in a transaction, which would see for ever what it saw first.
        with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
            there = "SELECT FROM pg_stat_activity WHERE pid = %s"
            wait_until(lambda: not other.execute(there, [left]).fetchall(), "it is cut")
        cursor.execute("SELECT 1")


def locked() -> None:
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("LOCK TABLE sample_thing")
        with transaction.atomic():
            sql("SET LOCAL lock_timeout = '1ms'")
            sql("LOCK TABLE sample_thing")


def out_of_reach() -> None:
    closed = connection.copy()
    closed.settings_dict["HOST"], closed.settings_dict["OPTIONS"] = "/nowhere", {}
    closed.ensure_connection()


def wrong() -> None:
    sql("SELECT 1 / 0")


def unmigrated() -> None:
    sql("SELECT FROM nowhere")


def of(statement: Callable[[], None]) -> Error:
    try:
        with pytest.raises(Error) as raised:
            statement()
    finally:
        connection.close()
    return raised.value


@pytest.mark.parametrize("state", [read_only, cut, idle_in_a_transaction, locked, out_of_reach])
def test_an_error_of_the_servers_state_may_pass(state):
    error = of(state)
    assert may_pass(error)
    assert told(error) == str(error).splitlines()[0]


def test_an_error_of_the_statement_does_not_pass():
    assert not may_pass(of(wrong))
    assert not may_pass(None)
    assert told(of(wrong)) is None
    assert told(of(unmigrated)) == 'relation "nowhere" does not exist; run: manage.py migrate'
