"""After a slice a process dispatches, and starts the job that it keeps for itself in the same pipeline."""

from dataclasses import dataclass, field, replace

import pytest
from django.db import DatabaseError, OperationalError

from jobs import store
from jobs.engine.attempt import slices
from jobs.engine.attempt.execute import execute
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.door.dispatch import dispatch, dispatch_and_keep
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.models import Job, PausedJobType, Worker
from jobs.store import Keeper, claiming
from jobs.store.attempts import starting
from jobs.store.rows import rows
from tests.attempts import changed
from tests.factories import ThingFactory, statuses
from tests.sql import sql

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity", "short_slices")]


@pytest.fixture
def short_slices(monkeypatch):
    monkeypatch.setattr(slices, "SLICE", 0.0)


@pytest.fixture
def host(register) -> AttemptHost:
    return AttemptHost(ProcessHost(register(concurrency=1), pool="default"))


@pytest.fixture
def two(host) -> list[int]:
    """Jobs of two tenants; one place: the first has its message, the second waits."""
    return [ThingFactory().async_.echo(n) for n in range(2)]


@pytest.fixture
def keeper(host) -> Keeper:
    return Keeper("default", host.seat)


class TestThePass:
    @pytest.fixture
    def three(self, keeper) -> list[int]:
        """Of three tenants; there is room for all of them."""
        Worker.objects.update(concurrency=0)
        made = [ThingFactory().async_.echo(n) for n in range(3)]
        Worker.objects.update(concurrency=3)
        return made

    def test_starts_the_first_job_of_the_pool(self, three, keeper, sent):
        kept = dispatch_and_keep(keeper)
        assert kept == store.still_running(kept.id, 1, keeper.seat)
        assert sorted([kept.id, *(message.id for message in sent)]) == three
        assert sorted(statuses()) == ["queued", "queued", "running"]

    def test_starts_nothing_of_another_pool(self, three, keeper, sent):
        assert dispatch_and_keep(replace(keeper, pool="other")) is None
        assert statuses() == ["queued"] * 3
        assert len(sent) == 3

    def test_starts_nothing_for_who_keeps_nothing(self, three, keeper, sent):
        dispatch_and_keep(keeper)
        Job.objects.filter(status="running").update(status="queued")
        assert dispatch() == 0
        assert statuses() == ["queued"] * 3

    def test_a_pass_that_claims_nothing_starts_no_job_of_an_earlier_one(self, three, keeper):
        kept = dispatch_and_keep(keeper)
        Job.objects.filter(pk=kept.id).update(status="queued")
        assert dispatch_and_keep(keeper) is None
        assert statuses() == ["queued"] * 3

    def test_does_not_wait_for_who_has_locked_that_job(self, three, keeper, elsewhere):
        dispatch_and_keep(keeper)
        kept = Job.objects.get(status="running")
        Job.objects.filter(pk=kept.pk).update(status="queued")

        def start_again() -> list:
            sql("SELECT set_config('jobs.kept', %s, false)", [f"{kept.pk} {kept.attempt}"])
            return rows("start_kept", **starting(keeper.seat))

        sql("BEGIN")
        sql("SELECT FROM jobs WHERE id = %s FOR UPDATE", [kept.pk])
        assert elsewhere(start_again).result(timeout=10) == []
        sql("ROLLBACK")
        assert len(elsewhere(start_again).result(timeout=10)) == 1


class TestAProcess:
    def test_runs_what_it_has_kept(self, host, two, sent):
        execute(two[0], 1, host)
        assert statuses() == ["success"] * 2
        assert len(sent) == 1

    def test_looks_closer_at_what_could_not_be_started(self, host, two, monkeypatch):
        def pause_and_claim(**how):
            PausedJobType.objects.get_or_create(source_type="sample.thing", source_method="echo")
            return claim(**how)

        claim = store.claim
        monkeypatch.setattr(store, "claim", pause_and_claim)
        execute(two[0], 1, host)
        assert statuses() == ["success", "scheduled"], "it was put off"

    def test_asks_what_it_holds_after_a_lost_answer(self, host, two, monkeypatch):
        claim, lost = store.claim, []

        def claim_without_answer(**how):
            found = claim(**how)
            if not lost:
                lost.append(found)
                raise OperationalError("the connection is lost")
            return found

        monkeypatch.setattr(store, "claim", claim_without_answer)
        parent = Parent()
        execute(two[0], 1, changed(host, **parent.told))
        assert statuses() == ["success"] * 2
        assert parent.said == [(two[0], 1), (two[1], 1), None]

    def test_waits_for_its_next_message_if_its_dispatch_failed(self, host, two, monkeypatch):
        def fail(**how):
            raise DatabaseError

        monkeypatch.setattr(store, "claim", fail)
        parent = Parent()
        execute(two[0], 1, changed(host, **parent.told))
        assert statuses() == ["success", "created"]
        assert parent.said == [(two[0], 1), None]

    def test_does_not_run_again_what_it_has_settled_though_postgresql_has_lost_that(self, host, two, monkeypatch):
        def lose_the_end(**how):
            claim(**how)
            Job.objects.filter(pk=two[0]).update(status="running", slot=2, end_time=None)  # a standby says so
            Job.objects.filter(pk=two[1]).update(status="queued")
            raise OperationalError("a failover")

        claim = store.claim
        monkeypatch.setattr(store, "claim", lose_the_end)
        execute(two[0], 1, host)
        assert statuses() == ["running", "queued"]

    def test_holds_the_last_one_until_it_knows_what_it_keeps(self, host, two, monkeypatch):
        parent, during = Parent(), []
        claim = store.claim
        monkeypatch.setattr(store, "claim", lambda **how: during.append(parent.said[-1]) or claim(**how))
        execute(two[0], 1, changed(host, **parent.told))
        assert during == [(two[0], 1), (two[1], 1)]
        assert parent.said == [(two[0], 1), (two[1], 1), None]

    def test_a_process_that_keeps_no_job_lets_go_before_its_dispatch(self, host, two, monkeypatch):
        parent, during = Parent(), []
        claim = store.claim
        monkeypatch.setattr(store, "claim", lambda **how: during.append(parent.said[-1]) or claim(**how))
        execute(two[0], 1, changed(host, **parent.told, is_draining=lambda: True))
        assert during == [None]


class TestTheSuccess:
    """Of the last job of a slice: it goes ahead of the pass, in the same pipeline."""

    @pytest.fixture
    def settled_alone(self, monkeypatch) -> list[int]:
        """The jobs that were settled by a statement of their own."""
        alone, succeed = [], store.succeed

        def note(job_id, *args, **how):
            alone.append(job_id)
            return succeed(job_id, *args, **how)

        monkeypatch.setattr(store, "succeed", note)
        return alone

    def test_goes_ahead_of_the_pass(self, host, two, settled_alone):
        execute(two[0], 1, host)
        assert statuses() == ["success"] * 2
        assert settled_alone == []

    def test_is_stored_though_the_pass_fails(self, host, two, settled_alone, monkeypatch, caplog):
        parameters = claiming._parameters

        def of_no_moment(*given, **more):
            to_fold, to_claim = parameters(*given, **more)
            return to_fold, to_claim | {"now": "no moment"}

        monkeypatch.setattr(claiming, "_parameters", of_no_moment)
        execute(two[0], 1, host)
        assert statuses() == ["success", "created"]
        assert settled_alone == []
        assert [line.message for line in caplog.records if "dispatch failed" in line.message]

    def test_a_success_of_a_job_that_was_taken_away_changes_nothing(self, host, two, settled_alone, body, caplog):
        @body
        def echo(self, value):
            Job.objects.filter(pk=two[0]).update(attempt=2)

        execute(two[0], 1, host)
        assert statuses() == ["running", "created"]
        assert settled_alone == []
        assert [line.message for line in caplog.records if line.message.startswith("succeed ignored")]

    def test_a_success_that_did_not_reach_postgresql_is_sent_again_before_a_pass(
        self, host, two, settled_alone, monkeypatch
    ):
        def cut_first(**how):
            monkeypatch.setattr(store, "claim", claim)
            raise OperationalError("the connection is lost")

        claim = store.claim
        monkeypatch.setattr(store, "claim", cut_first)
        execute(two[0], 1, host)
        assert statuses() == ["success"] * 2
        assert settled_alone == [two[0]]

    def test_a_success_that_postgresql_cannot_store_is_a_failure(self, host, two, monkeypatch):
        def keep(outcome, job, *_):
            outcome.result_ttl = 1e300 if job.id == two[0] else None

        monkeypatch.setattr(Outcome, "keep_result", keep)
        execute(two[0], 1, host)
        assert statuses() == ["error", "success"]
        assert "DataError" in Job.objects.get(pk=two[0]).last_error


@dataclass
class Parent:
    """What it is told; None: nothing is held."""

    said: list[tuple[int, int] | None] = field(default_factory=list)

    def hold(self, job_id: int, attempt: int) -> None:
        self.said.append((job_id, attempt))

    def let_go(self) -> None:
        self.said.append(None)

    @property
    def told(self) -> dict[str, object]:
        """What a host calls to tell it."""
        return {"hold": self.hold, "let_go": self.let_go}
