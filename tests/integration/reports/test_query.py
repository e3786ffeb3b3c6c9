"""A report's query can read, for a while, so many rows; and nothing else."""

import signal
from contextlib import contextmanager
from datetime import date

import psycopg
import pytest
from django.db import connection

from reports import query
from reports.query import ReportFailed
from tests.factories import database_url
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def url() -> str:
    """The test database, as a role that may do anything: what is refused is refused by the query's own limits."""
    return database_url()


def read(url, statement, values=None, *, timeout=10.0, row_limit=100):
    return query.read(url, statement, values or {}, timeout=timeout, row_limit=row_limit)


def test_columns_and_rows_come_as_json(url):
    table = read(
        url,
        """SELECT 1 AS n, 2.50::numeric AS price, date '2024-02-29' AS day, 'NaN'::float8 AS nothing,
                  NULL AS gap, ARRAY[1.5::numeric] AS list, '{"a": [1]}'::jsonb AS doc, interval '1 hour' AS long,
                  timestamptz '2024-02-29 12:00+00' AS at, '\\x00ff'::bytea AS raw, true AS yes""",
    )
    assert table.columns == ["n", "price", "day", "nothing", "gap", "list", "doc", "long", "at", "raw", "yes"]
    assert table.rows[0][:8] == [1, "2.50", "2024-02-29", "nan", None, ["1.5"], {"a": [1]}, "1:00:00"]
    assert table.rows[0][8].startswith("2024-02-29T")
    assert table.rows[0][9:] == ["00ff", True]


def test_values_travel_apart_from_the_sql(url):
    hostile = "'; DROP TABLE jobs; --"
    assert read(url, "SELECT %(it)s AS it, 7 %% 4 AS rest", {"it": hostile}).rows == [[hostile, 3]]
    assert read(url, "SELECT %(day)s::date + 1", {"day": "2024-02-28"}).rows == [[date(2024, 2, 29).isoformat()]]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM tenants_tenant",
        "WITH gone AS (DELETE FROM tenants_tenant RETURNING id) SELECT * FROM gone",
        "SELECT 1; COMMIT; DELETE FROM tenants_tenant",
        "CREATE TABLE loot AS SELECT 1",
        "SELECT nextval('tenants_tenant_id_seq')",
        "SELECT set_config('transaction_read_only', 'off', false)",
        "SET TRANSACTION READ WRITE",
        "COPY (SELECT 1) TO PROGRAM 'true'",
    ],
)
def test_nothing_can_be_written(url, statement):
    with pytest.raises(ReportFailed, match="refused"):
        read(url, statement)


def test_a_volatile_function_cannot_write_either(url):
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION pg_temp_write() RETURNS int LANGUAGE sql AS"
            " 'INSERT INTO tenants_tenant (name, slug) VALUES (''x'', ''x'') RETURNING 1'"
        )
        try:
            with pytest.raises(ReportFailed, match="read-only"):
                read(url, "SELECT pg_temp_write()")
        finally:
            cursor.execute("DROP FUNCTION pg_temp_write()")


def test_the_database_stops_a_slow_query(url):
    with pytest.raises(ReportFailed, match=r"stopped the query: .*timeout"):
        read(url, "SELECT pg_sleep(60)", timeout=0.2)


def test_a_query_cannot_lift_its_own_timeout(url):
    freed = "SELECT set_config('statement_timeout', '0', false), pg_sleep(CASE n WHEN 2 THEN 60 END)"
    with pytest.raises(ReportFailed, match="timeout"):
        read(url, f"{freed} FROM generate_series(1, 2) AS n", timeout=0.3)


def test_exactly_the_limit_is_accepted_and_one_row_more_is_not(url):
    assert len(read(url, "SELECT generate_series(1, 100)").rows) == 100
    with pytest.raises(ReportFailed, match="more than 100 rows"):
        read(url, "SELECT generate_series(1, 101)")


def test_an_invalid_query_says_what_the_database_says(url):
    with pytest.raises(ReportFailed, match='relation "nowhere" does not exist'):
        read(url, "SELECT * FROM nowhere")


@pytest.mark.parametrize(
    "bad",
    ["postgresql://spy:s3cret@127.0.0.1:1/vault", "postgresql://spy:s3cret@[vault", "host=vault password=s3cret bad"],
)
def test_an_unreachable_source_tells_nothing_of_where_it_is(bad):
    with pytest.raises(ReportFailed) as caught:
        read(bad, "SELECT 1")
    assert str(caught.value) == "The data source is unreachable."
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__  # so that a stored traceback does not show it


class TimeIsUp(Exception):
    """What the soft time limit of a job raises, out of the blue."""


@contextmanager
def time_limit(seconds: float):
    def strike(*_: object) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_job_whose_time_is_up_leaves_no_query_behind(url):
    with pytest.raises(TimeIsUp), time_limit(0.3):
        read(url, "SELECT pg_sleep(60) AS left_behind", timeout=60)

    def running() -> bool:
        with psycopg.connect(url) as other:
            sql = """SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND application_name = 'report' AND state = 'active'"""
            return other.execute(sql).fetchone() != (0,)

    wait_until(lambda: not running(), "the server gives the query up", limit=10)
