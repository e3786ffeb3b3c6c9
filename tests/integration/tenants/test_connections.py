"""A connection that the server has cut is replaced before anybody meets it, and no other."""

import fcntl

import psycopg
import pytest
from django.db import close_old_connections, connection, connections, transaction
from django.db.backends.sqlite3 import base as sqlite3
from django.db.utils import OperationalError

from plumbing.connections import drop_cut_connections
from plumbing.prepared import prepared
from tests.sql import cut, sql, value

pytestmark = pytest.mark.django_db(transaction=True)


def session() -> int:
    return value("SELECT pg_backend_pid()")


def test_a_connection_that_was_cut_is_replaced_and_a_live_one_stays():
    before = session()
    drop_cut_connections()
    assert session() == before
    cut()
    drop_cut_connections()
    assert session() != before


def read_only() -> None:
    sql("SET default_transaction_read_only = on")


def test_a_connection_to_a_read_only_server_is_replaced_by_a_request(client):
    """Another server may have taken over."""
    before = session()
    read_only()
    client.get("/healthz")
    assert session() != before


def test_a_connection_to_a_replica_of_another_database_stays(monkeypatch):
    monkeypatch.setattr("plumbing.connections.DEFAULT_DB_ALIAS", "that of the jobs")
    before = session()
    read_only()
    drop_cut_connections()
    assert session() == before
    connection.close()


def test_in_a_transaction_it_stays_so_that_its_loss_is_noticed():
    with pytest.raises(OperationalError), transaction.atomic():
        session()
        cut()
        drop_cut_connections()
        session()


def test_a_connection_with_a_high_file_number_is_looked_at_too(monkeypatch):
    before = session()
    high = fcntl.fcntl(connection.connection.fileno(), fcntl.F_DUPFD_CLOEXEC, 1024)
    monkeypatch.setattr(psycopg.Connection, "fileno", lambda self: high)
    drop_cut_connections()
    assert session() == before


def test_a_connection_to_another_kind_of_database_is_left_alone(monkeypatch):
    """Its library knows neither `closed` nor sockets."""
    other = sqlite3.DatabaseWrapper(connection.settings_dict | {"NAME": ":memory:", "OPTIONS": {}})
    monkeypatch.setitem(connections.databases, "other", {})
    connections["other"] = other
    try:
        other.ensure_connection()
        drop_cut_connections()
        assert other.connection is not None
    finally:
        other.connection.close()
        del connections["other"]


def test_with_health_checks_a_prepared_statement_meets_no_cut_connection(monkeypatch):
    """In a project with Django's own handler, which says at each request that it may have been cut."""
    monkeypatch.setitem(connection.settings_dict, "CONN_HEALTH_CHECKS", True)
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", None)
    connection.close()
    before = session()
    cut()
    close_old_connections()
    assert prepared("SELECT pg_backend_pid()") != [(before,)]
