"""After a slice a process dispatches, and starts the job that it keeps for itself in the same pipeline."""

from dataclasses import dataclass, field, replace

import pytest
from django.db import DatabaseError, OperationalError, connection

from jobs import store
from jobs.engine import slices
from jobs.engine.dispatch import dispatch, dispatch_and_keep
from jobs.engine.execute import execute
from jobs.engine.host import Host
from jobs.models import Job, PausedJobType, Worker
from jobs.store import Keeper
from jobs.store.attempts import starting
from jobs.store.rows import rows
from tests.factories import ThingFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity", "short_slices")]


@pytest.fixture
def short_slices(monkeypatch):
    monkeypatch.setattr(slices, "QUANTUM", 0.0)


@pytest.fixture
def host(register) -> Host:
    return Host(register(concurrency=1), pool="default")


@pytest.fixture
def two(host) -> list[int]:
    """Jobs of two tenants; one place: the first has its message, the second waits."""
    return [ThingFactory().async_.echo(n) for n in range(2)]


def statuses() -> list[str]:
    return list(Job.objects.order_by("id").values_list("status", flat=True))


@pytest.fixture
def keeper(host) -> Keeper:
    return Keeper("default", host.process)


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
        assert kept == store.holder(kept.id, 1, keeper.process)
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

    def test_that_claims_nothing_starts_nothing_that_an_earlier_one_has_kept(self, three, keeper):
        kept = dispatch_and_keep(keeper)
        Job.objects.filter(pk=kept.id).update(status="queued")
        assert dispatch_and_keep(keeper) is None
        assert statuses() == ["queued"] * 3

    def test_does_not_wait_for_who_has_locked_that_job(self, three, keeper, elsewhere):
        dispatch_and_keep(keeper)
        kept = Job.objects.get(status="running")
        Job.objects.filter(pk=kept.pk).update(status="queued")

        def start_again() -> list:
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('jobs.kept', %s, false)", [f"{kept.pk} {kept.attempt}"])
            return rows("start_kept", **starting(keeper.process))

        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [kept.pk])
            assert elsewhere(start_again).result(timeout=10) == []
            cursor.execute("ROLLBACK")
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
        seat = Seat()
        execute(two[0], 1, replace(host, seat=seat))
        assert statuses() == ["success"] * 2
        assert seat.notes == [(two[0], 1), (two[1], 1), None]

    def test_waits_for_its_next_message_if_its_dispatch_failed(self, host, two, monkeypatch):
        def fail(**how):
            raise DatabaseError

        monkeypatch.setattr(store, "claim", fail)
        seat = Seat()
        execute(two[0], 1, replace(host, seat=seat))
        assert statuses() == ["success", "created"]
        assert seat.notes == [(two[0], 1), None]

    def test_does_not_run_again_what_it_has_settled_though_postgresql_has_lost_that(self, host, two, monkeypatch):
        def fail(**how):
            Job.objects.filter(pk=two[0]).update(status="running", slot=1, end_time=None)  # a standby says so
            raise OperationalError("a failover")

        monkeypatch.setattr(store, "claim", fail)
        execute(two[0], 1, host)
        assert statuses() == ["running", "created"]

    def test_holds_the_last_one_at_its_desk_until_it_knows_what_it_keeps(self, host, two, monkeypatch):
        seat, during = Seat(), []
        claim = store.claim
        monkeypatch.setattr(store, "claim", lambda **how: during.append(seat.notes[-1]) or claim(**how))
        execute(two[0], 1, replace(host, seat=seat))
        assert during == [(two[0], 1), (two[1], 1)]
        assert seat.notes == [(two[0], 1), (two[1], 1), None]

    def test_that_keeps_nothing_lets_go_before_its_dispatch(self, host, two, monkeypatch):
        seat, during = Seat(), []
        claim = store.claim
        monkeypatch.setattr(store, "claim", lambda **how: during.append(seat.notes[-1]) or claim(**how))
        execute(two[0], 1, replace(host, seat=seat, draining=lambda: True))
        assert during == [None]


@dataclass
class Seat:
    """What the parent is told; None: nothing is held."""

    notes: list[tuple[int, int] | None] = field(default_factory=list)

    def hold(self, job_id: int, attempt: int) -> None:
        self.notes.append((job_id, attempt))

    def let_go(self) -> None:
        self.notes.append(None)
