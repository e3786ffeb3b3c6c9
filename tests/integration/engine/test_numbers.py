"""No number of a job comes again: a server that was promoted or restored may not know the last ones."""

import logging
import threading
from collections.abc import Callable

import pytest
from django.core.checks import Tags, run_checks
from django.core.management import CommandError, call_command
from django.db import DEFAULT_DB_ALIAS, OperationalError, ProgrammingError, connection

from jobs import store
from jobs.engine.upkeep import id_gaps
from jobs.engine.upkeep.id_gaps import SKIPPED
from jobs.models import Job, Server
from jobs.worker.clock import Clock
from tenants.models import Change
from tests.factories import TenantFactory, make_job
from tests.sql import sql

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def next_number() -> Callable[[], int]:
    """The number that the next job gets; it is given out."""
    return lambda: make_job(TenantFactory()).pk


@pytest.fixture
def promoted() -> None:
    """The clock has led on another server before."""
    Server.objects.all().delete()
    id_gaps.skip_on_a_new_server()
    Server.objects.update(timeline=4711)


def ids() -> list[str]:
    every = run_checks(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])
    return [found.id for found in every if found.id in ("jobs.E018", "jobs.W009")]


class TestTheClock:
    def lead(self) -> None:
        clock = Clock(threading.Event())
        try:
            assert clock._leads()
        finally:
            connection.close()

    def test_skips_numbers_once_on_each_new_server(self, next_number, promoted, caplog):
        def next_event() -> int:
            """Receivers keep the numbers that they have seen."""
            with connection.cursor() as cursor:
                return cursor.execute("SELECT nextval('webhook_seq')").fetchone()[0]

        before, event = next_number(), next_event()
        with caplog.at_level(logging.WARNING, logger="jobs"):
            self.lead()
        assert next_number() > before + SKIPPED
        assert next_event() > event + SKIPPED
        assert "numbers of jobs skipped" in caplog.text
        before = next_number()
        self.lead()
        assert next_number() == before + 1

    def test_skips_none_on_the_first_one(self, next_number):
        Server.objects.all().delete()
        before = next_number()
        self.lead()
        assert next_number() == before + 1
        assert Server.objects.count() == 1

    def test_skips_numbers_after_a_dump_was_restored_on_another_machine(self, next_number, promoted):
        id_gaps.skip_on_a_new_server()
        Server.objects.update(identifier=4711)
        before = next_number()
        id_gaps.skip_on_a_new_server()
        assert next_number() > before + SKIPPED

    def test_leads_also_where_a_provider_keeps_from_it_which_server_it_is(self, promoted, monkeypatch, caplog):
        def refused(*_) -> list:
            raise ProgrammingError("permission denied for function pg_control_system")

        monkeypatch.setattr(id_gaps, "rows", refused)
        self.lead()
        assert "a promotion cannot be noticed here" in caplog.text

    def test_waits_for_a_server_that_is_away(self, monkeypatch):
        def away(*_) -> list:
            raise OperationalError

        monkeypatch.setattr(id_gaps, "rows", away)
        with pytest.raises(OperationalError):
            id_gaps.skip_on_a_new_server()


class TestTheCheck:
    def test_says_nothing_on_a_server_that_is_known_or_the_first(self, next_number):
        next_number()
        Server.objects.all().delete()
        assert ids() == []
        id_gaps.skip_on_a_new_server()
        assert ids() == []

    def test_tells_of_a_promotion_until_numbers_were_skipped(self, promoted):
        assert ids() == ["jobs.W009"]
        id_gaps.skip_on_a_new_server()
        assert ids() == []

    @pytest.mark.parametrize("model", ["jobs", "job_history"])
    def test_tells_of_numbers_behind_a_job_that_exists(self, next_number, model):
        number = next_number() + 5
        job = make_job(TenantFactory(), "cancelled", pk=number)
        if model == "job_history":
            store.archive(-60, job.end_time, job.end_time.replace(year=job.end_time.year + 1))
            assert not Job.objects.filter(pk=number).exists()
        assert ids() == ["jobs.E018"]
        call_command("jobs", "skip-numbers", "--by", "1")
        assert ids() == []
        assert next_number() == number + 2

    def test_tells_of_books_that_logical_replication_copied_without_the_sequence_of_the_door(self, register):
        """A dispatch would take the new state of a lane, whose version is lower, for an old one."""
        register()
        tenant = TenantFactory(queue__num_slots=9)
        sql("SELECT setval('door_seq', nextval('door_seq') + 1000)")
        make_job(tenant, "created")
        store.claim()
        sql("ALTER SEQUENCE door_seq RESTART")
        assert ids() == ["jobs.E018"]
        call_command("jobs", "skip-numbers", "--by", "1")
        assert ids() == []
        job = make_job(tenant, "created")
        assert [claimed.id for claimed in store.claim()] == [job.pk]

    def test_says_nothing_without_the_tables_or_on_a_standby(self, monkeypatch):
        def refused() -> object:
            raise ProgrammingError

        monkeypatch.setattr(id_gaps, "counters", refused)
        assert ids() == []


class TestTheCommand:
    def test_skips_as_many_as_it_is_told(self, next_number, capsys):
        before = next_number()
        call_command("jobs", "skip-numbers", "--by", "50")
        number = next_number()
        assert number == before + 52  # the statement gives one out itself
        assert f"The next job is number {number:,}." in capsys.readouterr().out
        # As after logical replication.
        sql("ALTER TABLE changes ALTER id RESTART WITH %s", [Change.objects.latest("id").pk])
        with pytest.raises(CommandError, match="sqlsequencereset jobs tenants"):
            call_command("jobs", "skip-numbers")

    def test_is_enough_on_a_server_that_was_promoted(self, next_number, promoted):
        """The warning goes that advises it, and the next clock does not skip again."""
        assert ids() == ["jobs.W009"]
        call_command("jobs", "skip-numbers")
        assert ids() == []
        before = next_number()
        id_gaps.skip_on_a_new_server()
        assert next_number() == before + 1

    @pytest.mark.parametrize("by", ["0", "-1", "1000000000001"])
    def test_refuses_to_go_back_or_too_far(self, next_number, by):
        before = next_number()
        with pytest.raises(CommandError, match="--by: must be a whole number from 1 to"):
            call_command("jobs", "skip-numbers", "--by", by)
        assert next_number() == before + 1
