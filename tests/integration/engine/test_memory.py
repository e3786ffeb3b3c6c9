"""`current_job().memory` in bodies: kept from run to run, with the body's transaction, and only while it runs."""

import math

import pytest
from django.db import transaction

from jobs import MISSING, InvalidRequest, StaleAttempt, current_job, job, store
from jobs.engine.upkeep.prune import expire_memories
from jobs.lifecycle import Status
from jobs.models import Job, JobMemory
from jobs.store import OwnSession
from jobs.worker.clock.duties import slow_duties
from tests import attempts
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run, Thing
from tests.sql import sql

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(sent, monkeypatch):
    """Let the body be this function, and run it once: `run(body, on=thing)`; the job as it is then.

    As in a worker, the engine has a session of its own.
    """
    own = OwnSession()

    def run(body, on: Thing, **options) -> Job:
        monkeypatch.setattr(Thing, "again", job(dedup=False)(lambda self: body()))
        return attempts.run(sent, on.async_.again(), own_session=own.speaking, **options)

    yield run
    own._connection.close()


def memory():
    return current_job().memory


def contents() -> list[dict]:
    return list(JobMemory.objects.order_by("pk").values_list("content", flat=True))


class TestFromRunToRun:
    def test_a_job_type_counts_its_runs_for_each_tenant(self, run, thing):
        seen = []

        def count() -> None:
            seen.append((memory().get("runs", 0), memory().increment("runs")))

        neighbour = ThingFactory(tenant=thing.tenant)
        stranger = ThingFactory(tenant=TenantFactory(queue__num_slots=1))
        for on in (thing, neighbour, stranger, thing):
            assert run(count, on).status == "success"
        assert seen == [(0, 1), (1, 2), (0, 1), (2, 3)]
        kept = JobMemory.objects.get(tenant=thing.tenant)
        assert (kept.source_type, kept.source_method, kept.source_id) == ("sample.thing", "again", "")

    def test_an_object_has_a_memory_of_its_own(self, run, thing):
        seen = []

        def count() -> None:
            seen.append((memory().increment("n"), current_job().object_memory.increment("n", 10)))

        neighbour = ThingFactory(tenant=thing.tenant)
        for on in (thing, neighbour, thing):
            assert run(count, on).status == "success"
        assert seen == [(1, 10), (2, 10), (3, 20)]
        own = JobMemory.objects.exclude(source_id="").values_list("source_id", "content")
        assert dict(own) == {str(thing.pk): {"n": 20}, str(neighbour.pk): {"n": 10}}

    def test_a_job_of_the_class_has_one_for_both(self, thing, sent, monkeypatch):
        def both(cls) -> None:
            assert current_job().memory is current_job().object_memory
            current_job().object_memory.increment("n")

        monkeypatch.setattr(Thing, "everything", classmethod(job(both)))
        assert attempts.run(sent, Thing.async_(tenant=thing.tenant).everything()).status == "success"
        assert JobMemory.objects.get().source_id == ""

    def test_a_memory_reads_like_a_dictionary(self, run, thing):
        def body() -> None:
            memory().merge({"a": 1}, b=[2], values=None)
            assert (memory()["a"], memory().get("z", 7), "b" in memory(), len(memory())) == (1, 7, True, 3)
            assert memory().as_dict() == dict(memory()) == {"a": 1, "b": [2], "values": None}
            assert set(memory().keys()) == {"a", "b", "values"}
            with pytest.raises(KeyError):
                memory()["z"]
            memory()["b"].append(3)  # a copy
            assert memory()["b"] == [2]
            memory().delete("a", "z")
            assert memory().compare_and_set("b", [2], "new")
            assert not memory().compare_and_set("b", MISSING, "newer")
            assert memory().as_dict() == {"b": "new", "values": None}
            memory().clear()
            assert not memory()

        ended = run(body, thing)
        assert (ended.status, ended.last_error) == ("success", "")


class TestReading:
    def test_a_job_that_does_not_remember_asks_nothing(self, run, thing, django_assert_num_queries):
        def body() -> None:
            with django_assert_num_queries(0):
                assert current_job().memory is not current_job().object_memory

        assert run(body, thing).last_error == ""

    def test_is_one_statement_until_it_is_changed_here(self, run, thing, django_assert_num_queries):
        def body() -> None:
            with django_assert_num_queries(1):
                assert (memory().get("a"), "a" in memory(), dict(memory())) == (None, False, {})
            with django_assert_num_queries(2):
                memory().merge(a=1)
                assert (memory()["a"], memory().as_dict()) == (1, {"a": 1})

        assert run(body, thing).last_error == ""

    def test_shows_what_was_rolled_back_no_longer(self, run, thing):
        def body() -> None:
            memory().merge(a=1)
            assert memory()["a"] == 1
            with transaction.atomic():
                memory().merge(a=2)
                assert memory()["a"] == 2
                with transaction.atomic():
                    memory().merge(a=3)
                    assert memory()["a"] == 3
                    transaction.set_rollback(True)
                assert memory()["a"] == 2
                transaction.set_rollback(True)
            assert memory()["a"] == 1

        assert run(body, thing).last_error == ""


class TestTheBodysTransaction:
    def test_outside_of_one_it_is_stored_at_once(self, run, thing, onlooker):
        seen = []

        def body() -> None:
            memory().merge(a=1)
            seen.append(onlooker.execute("SELECT content ->> 'a' FROM job_memories").fetchone()[0])
            raise ValueError("later")

        assert run(body, thing).status == "error"
        assert (seen, contents()) == (["1"], [{"a": 1}])

    def test_inside_it_commits_with_the_rows_of_the_body(self, run, thing, onlooker):
        seen = []

        def body() -> None:
            with transaction.atomic():
                memory().increment("cursor", 7)
                Run.objects.create(job_id=1, attempt=1, pid=1)
                seen.append(onlooker.execute("SELECT count(*) FROM job_memories").fetchone()[0])

        assert run(body, thing).status == "success"
        assert seen == [0]
        assert (contents(), Run.objects.count()) == ([{"cursor": 7}], 1)

    def test_inside_it_is_rolled_back_with_the_rows_of_the_body(self, run, thing):
        def body() -> None:
            with transaction.atomic():
                memory().increment("cursor", 7)
                current_job().object_memory.merge(a=1)
                Run.objects.create(job_id=1, attempt=1, pid=1)
                raise ValueError("no")

        assert run(body, thing).status == "error"
        assert (contents(), Run.objects.count()) == ([], 0)

    def test_a_memory_belongs_to_the_transaction_without_autocommit(self, run, thing):
        def body() -> None:
            memory().merge(a=1)
            transaction.set_autocommit(False)
            memory().merge(a=2)
            assert memory()["a"] == 2
            transaction.rollback()
            assert memory()["a"] == 1

        assert run(body, thing).last_error == ""
        assert contents() == [{"a": 1}]


class TestAStaleAttempt:
    def test_changes_nothing_and_is_told(self, run, thing):
        """Its worker was silent for too long, and the job was taken back; its body goes on."""
        told = []

        def body() -> None:
            memory().merge(a=1)
            current = current_job()
            assert store.take_back(current.id, current.attempt, store.Failure("WorkerGone", ""), 3)
            for write in (lambda: memory().increment("a"), lambda: current.object_memory.merge(a=2), memory().clear):
                with pytest.raises(StaleAttempt) as refused:
                    write()
                told.append(str(refused.value))
            memory().merge(a=2)

        ended = run(body, thing)
        assert (ended.status, ended.crashes, len(told)) == (Status.SCHEDULED, 1, 3)
        assert contents() == [{"a": 1}]


class TestRefusals:
    @pytest.mark.parametrize(
        ("use", "told"),
        [
            (lambda m: m.merge(a=object()), "memory.a: object is not JSON; use text, numbers"),
            (lambda m: m.merge(a={"b": math.nan}), "memory.a.b: nan is not JSON; use a finite number"),
            (lambda m: m.merge(a="\x00"), "memory.a: contains a NUL"),
            (lambda m: m.merge({1: 2}), "memory: has the key 1; keys must be text"),
            (lambda m: m.merge(a="x" * 8192), "memory: would take more than 8,192 bytes as JSON"),
            (lambda m: m.merge(a=nested(60)), "memory: are nested more than 50 levels deep"),
            (lambda m: m.delete("a", 7), "memory: has the key 7; keys must be text"),
            (
                lambda m: m.increment("text"),
                "memory.text: holds no number, so it cannot be incremented; merge a number",
            ),
            (lambda m: m.increment("a", "1"), "by: must be a number, not '1'"),
            (lambda m: m.increment("a", True), "by: must be a number, not True"),
            (lambda m: m.increment("a", math.inf), "by: inf is not JSON; use a finite number"),
            (lambda m: m.increment("a", 10**5000), "by: is a number with too many digits"),
            (lambda m: m.increment("\x00"), "memory: contains a NUL"),
            (lambda m: m.compare_and_set("a", object(), 1), "expected: object is not JSON"),
            (lambda m: m.compare_and_set("a", MISSING, object()), "memory.a: object is not JSON"),
            (lambda m: m.compare_and_set("a", MISSING, MISSING), "memory.a: Missing is not JSON"),
        ],
    )
    def test_name_the_key_and_change_nothing(self, run, thing, use, told):
        def body() -> None:
            memory().merge(text="7")
            with pytest.raises(InvalidRequest) as refused:
                use(memory())
            assert str(refused.value).startswith(told), refused.value

        assert run(body, thing).last_error == ""
        assert contents() == [{"text": "7"}]

    def test_name_the_memory_of_the_object(self, run, thing):
        def body() -> None:
            current_job().object_memory.merge(a=object())

        assert run(body, thing).last_error.startswith("InvalidRequest: object_memory.a: object is not JSON")


def nested(levels: int) -> list:
    return [nested(levels - 1)] if levels else [1]


def test_the_clock_deletes_what_nobody_has_written_for_so_long(run, thing, settings):
    settings.JOBS_MEMORY_TTL = 3600
    run(lambda: memory().merge(a=1), thing)
    run(lambda: current_job().object_memory.merge(a=2), thing)
    sql("UPDATE job_memories SET touched_at = now() - interval '2 hours' WHERE source_id = ''")
    [duty] = [duty for duty in slow_duties() if duty.run == expire_memories]
    duty.run_if_due()
    assert contents() == [{"a": 2}]
