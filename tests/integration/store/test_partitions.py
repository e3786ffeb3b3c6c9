"""Partitions are made ahead and dropped as a whole, and no insert fails or waits for it."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.db import OperationalError, connection, transaction

from jobs.store import partitions
from tests.sql import sql, value

MAKE = """
    CREATE TABLE things (at timestamptz NOT NULL, name text NOT NULL DEFAULT 'none') PARTITION BY RANGE (at);
    CREATE TABLE things_rest PARTITION OF things DEFAULT;
    CREATE INDEX things_at ON things USING brin (at);
"""
MONDAY = datetime(2030, 12, 30, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def things(transactional_db):
    sql(MAKE)
    yield
    sql("DROP TABLE things")


def insert(at: datetime, name: str = "a") -> None:
    sql("INSERT INTO things VALUES (%s, %s)", [at, name])


def places() -> list:
    return sql("SELECT tableoid::regclass::text, name FROM things ORDER BY 1, 2")


def names() -> list:
    found = sql("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'things'::regclass ORDER BY 1")
    return [name for (name,) in found]


def test_a_partition_takes_the_rows_of_its_range_and_no_others(things):
    assert partitions.ensure("things", MONDAY, MONDAY + DAY)
    for at, name in [(MONDAY - DAY / 2, "before"), (MONDAY, "first"), (MONDAY + DAY, "after")]:
        insert(at, name)
    assert places() == [("things_20301230", "first"), ("things_rest", "after"), ("things_rest", "before")]


def test_a_partition_that_is_there_is_left_alone(things):
    assert partitions.ensure("things", MONDAY, MONDAY + DAY)
    insert(MONDAY)
    assert not partitions.ensure("things", MONDAY, MONDAY + DAY)
    assert places() == [("things_20301230", "a")]


def test_rows_that_found_no_partition_move_into_it(things):
    insert(MONDAY, "early")
    insert(MONDAY + DAY, "next")
    assert partitions.ensure("things", MONDAY, MONDAY + DAY)
    assert places() == [("things_20301230", "early"), ("things_rest", "next")]


@pytest.fixture
def of_another(things):
    """The table is a role's, of which we are a member."""
    role = f'"of {connection.settings_dict["NAME"]}"'
    sql(f"CREATE ROLE {role}; GRANT {role} TO CURRENT_USER; GRANT CREATE ON SCHEMA public TO {role}")
    sql(f"ALTER TABLE things OWNER TO {role}; ALTER TABLE things_rest OWNER TO {role}")
    yield role
    sql(f"REASSIGN OWNED BY {role} TO CURRENT_USER; DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_partition_has_the_indexes_and_defaults_and_the_owner_of_its_table(of_another):
    partitions.ensure("things", MONDAY, MONDAY + DAY)
    assert sql("SELECT relowner::regrole::text FROM pg_class WHERE relname = 'things_20301230'") == [(of_another,)]
    sql("INSERT INTO things (at) VALUES (%s)", [MONDAY])
    assert places() == [("things_20301230", "none")]
    assert "brin" in value("SELECT indexdef FROM pg_indexes WHERE tablename = 'things_20301230'")


def test_neither_the_zone_of_the_session_nor_its_way_to_write_texts_shifts_a_partition(things):
    sql("SET TIME ZONE 'Asia/Kolkata'")
    sql("SET standard_conforming_strings = off")
    try:
        partitions.ensure("things", MONDAY, MONDAY + DAY)
        assert partitions.drop_before("things", MONDAY + DAY - timedelta(seconds=1)) == 0
        assert partitions.drop_before("things", MONDAY + DAY) == 1
    finally:
        sql("SET TIME ZONE 'UTC'")
        sql("RESET standard_conforming_strings")


def test_old_partitions_are_dropped_and_old_rows_without_one_deleted(things):
    for day in range(3):
        partitions.ensure("things", MONDAY + day * DAY, MONDAY + (day + 1) * DAY)
    insert(MONDAY - DAY, "old")
    insert(MONDAY + 9 * DAY, "new")
    assert partitions.drop_before("things", MONDAY + 2 * DAY) == 2
    assert names() == ["things_20310101", "things_rest"]
    assert places() == [("things_rest", "new")]
    assert partitions.drop_before("things", MONDAY + 2 * DAY) == 0


def test_a_partition_is_made_while_others_are_inserting(things, onlooker):
    partitions.ensure("things", MONDAY, MONDAY + DAY)
    with onlooker.transaction():
        onlooker.execute("INSERT INTO things VALUES (%s)", [MONDAY])
        assert partitions.ensure("things", MONDAY + DAY, MONDAY + 2 * DAY)
    assert names() == ["things_20301230", "things_20301231", "things_rest"]


def test_an_insert_goes_on_while_a_partition_is_being_made(things, onlooker):
    partitions.ensure("things", MONDAY, MONDAY + DAY)
    with transaction.atomic():
        partitions.ensure("things", MONDAY + DAY, MONDAY + 2 * DAY)
        onlooker.execute("SET lock_timeout = '5s'")
        onlooker.execute("INSERT INTO things VALUES (%s)", [MONDAY])
    assert places() == [("things_20301230", "none")]


def test_an_insert_of_this_moment_waits_for_its_first_partition_and_does_not_fail(things, elsewhere, blocked):
    now = datetime.now(UTC)
    insert(now, "before")
    with transaction.atomic():
        assert partitions.ensure("things", now - DAY / 2, now + DAY / 2)
        other = elsewhere(insert, now, "meanwhile")
        while not blocked():
            assert not other.done()
    other.result()
    assert {name for _, name in places()} == {"before", "meanwhile"}
    assert {place for place, _ in places()} == {names()[0]} != {"things_rest"}


def test_a_first_partition_gives_way_to_a_long_insert(things, onlooker):
    now = datetime.now(UTC)
    with onlooker.transaction():
        onlooker.execute("INSERT INTO things VALUES (%s)", [now])
        with pytest.raises(OperationalError):
            partitions.ensure("things", now - DAY / 2, now + DAY / 2)
    assert partitions.ensure("things", now - DAY / 2, now + DAY / 2)
    assert places() == [(names()[0], "none")]


def test_a_drop_gives_way_to_a_long_read(things, onlooker):
    partitions.ensure("things", MONDAY, MONDAY + DAY)
    with onlooker.transaction():
        onlooker.execute("SELECT FROM things")
        with pytest.raises(OperationalError) as raised:
            partitions.drop_before("things", MONDAY + DAY)
    assert isinstance(raised.value.__cause__, psycopg.errors.LockNotAvailable)
    assert partitions.drop_before("things", MONDAY + DAY) == 1


def test_one_of_two_sessions_makes_a_partition(things, elsewhere, blocked):
    with transaction.atomic():
        assert partitions.ensure("things", MONDAY, MONDAY + DAY)
        other = elsewhere(partitions.ensure, "things", MONDAY, MONDAY + DAY)
        while not blocked():
            assert not other.done()
    assert other.result() is False


def test_the_time_limit_ends_with_the_transaction(things):
    before = sql("SHOW lock_timeout")
    partitions.ensure("things", MONDAY, MONDAY + DAY)
    partitions.drop_before("things", MONDAY + DAY)
    assert sql("SHOW lock_timeout") == before
