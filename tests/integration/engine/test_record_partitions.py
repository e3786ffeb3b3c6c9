"""The recorder keeps the partitions of its tables, and counts across them."""

from datetime import timedelta

import pytest

from jobs.models import Attempt, JobMinute, TenantHour, Total
from jobs.recording import close, record
from tests.clock import call_at
from tests.integration.engine.test_record import HOUR, NOON, at, attempt, rows
from tests.sql import sql


@pytest.mark.django_db(transaction=True)
class TestPartitions:
    @pytest.fixture(autouse=True)
    def _there_are_none_before_and_after(self, onlooker):
        """And somebody replicates the tables: then PostgreSQL refuses to delete what it could not tell apart."""
        self.drop()
        onlooker.execute("CREATE PUBLICATION everything FOR TABLE attempts, job_minutes, tenant_hours")
        yield
        onlooker.execute("DROP PUBLICATION everything")
        self.drop()

    def drop(self) -> None:
        for table in ("attempts", "job_minutes", "tenant_hours"):
            for name in self.of(table):
                sql(f"DROP TABLE {name}")

    def of(self, table: str) -> list[str]:
        children = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass ORDER BY 1"
        return [name for (name,) in sql(children, [table]) if not name.endswith("_default")]

    def test_partitions_are_made_ahead_for_every_table(self):
        call_at(NOON, record.keep_partitions)
        for table in ("attempts", "job_minutes", "tenant_hours"):
            assert self.of(table) == [f"{table}_203103{day:02}" for day in (4, 5, 6, 7)]

    def test_old_days_are_dropped_when_their_time_is_over(self, settings):
        settings.JOBS_ATTEMPTS_KEPT = 2 * 86400
        call_at(NOON, record.keep_partitions)
        attempt(NOON - 30 * HOUR)
        call_at(NOON, close.close_days)
        at(3 * 86400)
        call_at(NOON + timedelta(days=3), close.close_days)
        call_at(NOON + timedelta(days=3), record.keep_partitions)
        assert self.of("attempts")[0] == "attempts_20310306"
        assert self.of("job_minutes")[0] == "job_minutes_20310305"
        assert self.of("tenant_hours")[0] == "tenant_hours_20310304"
        assert rows(Attempt) == []

    def test_counts_from_before_a_partition_are_replaced_in_it(self):
        attempt()
        at(75)
        call_at(NOON, record.keep_partitions)
        attempt()
        at(400)
        assert (JobMinute.objects.get().attempts, Total.objects.get().attempts) == (2, 2)
        assert TenantHour.objects.get().attempts == 2

    def test_a_count_reads_only_the_partition_that_it_needs(self):
        call_at(NOON, record.keep_partitions)
        explained = sql("EXPLAIN SELECT FROM attempts WHERE ended_at >= %s AND ended_at < %s", [NOON, NOON + HOUR])
        plan = "\n".join(line for (line,) in explained)
        assert "attempts_20310305" in plan
        assert "attempts_20310304" not in plan
        assert "attempts_default" not in plan
