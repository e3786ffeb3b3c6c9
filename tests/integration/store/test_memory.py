"""The memory of a job type: two runs at once lose no update, whichever is first; its bound; who may touch it."""

import uuid
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from jobs import MISSING, StaleAttempt, store
from jobs.calls.refusals import InvalidRequest, TooLarge
from jobs.engine.attempt.memory import Remembering, StoredMemory, clear, clear_all
from jobs.engine.upkeep import prune
from jobs.engine.upkeep.prune import expire_memories
from jobs.lifecycle import Status
from jobs.models import MAX_BYTES, JobMemory
from jobs.store import Seat
from tests.clock import call_at
from tests.factories import NO_PID, TenantFactory, make_job
from tests.sql import sql
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def running(tenant, **fields) -> Remembering:
    job = make_job(tenant, Status.RUNNING, **fields)
    return remembering(job)


def remembering(job) -> Remembering:
    return Remembering(job.pk, job.attempt, Seat(job.worker, job.worker_pid))


def content(of: Remembering) -> dict:
    return StoredMemory(of).as_dict()


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=9)


@pytest.fixture
def one(tenant):
    return running(tenant)


@pytest.fixture
def other(tenant, one):
    """A second run of the same job type, for another object."""
    return running(tenant, source_id="2")


@pytest.fixture(params=["empty", "there"])
def before(request, one):
    """The race is about the first value of all, or about one of several."""
    if request.param == "there":
        StoredMemory(one).merge({"old": "kept"})
        return {"old": "kept"}
    return {}


class TestTwoAtOnce:
    """One is in a transaction that has not ended; the other comes, waits, and goes on with what that left."""

    @pytest.fixture
    def second(self, elsewhere, blocked):
        """`second(inside, function, ...)`: do `inside` first; the outcome of what came meanwhile."""

        def second(inside, function, *args, rolled_back=False):
            with transaction.atomic():
                inside()
                late = elsewhere(function, *args)
                wait_until(lambda: blocked() == 1, "the second waits for the first")
                transaction.set_rollback(rolled_back)
            return late.result()

        return second

    def test_increment_and_both_count(self, second, one, other, before):
        assert second(lambda: StoredMemory(one).increment("runs", 1), StoredMemory(other).increment, "runs", 1) == 2
        assert content(one) == before | {"runs": 2}

    def test_increment_and_only_the_one_that_committed_counts(self, second, one, other, before):
        inside = lambda: StoredMemory(one).increment("runs", 1)  # noqa: E731
        assert second(inside, StoredMemory(other).increment, "runs", 1, rolled_back=True) == 1
        assert content(one) == before | {"runs": 1}

    def test_merge_different_keys_and_both_are_kept(self, second, one, other, before):
        second(lambda: StoredMemory(one).merge({"a": 1}), StoredMemory(other).merge, {"b": 2})
        assert content(one) == before | {"a": 1, "b": 2}

    def test_remove_different_keys_and_both_are_gone(self, second, one, other, before):
        StoredMemory(one).merge({"a": 1, "b": 2, "c": 3})
        second(lambda: StoredMemory(one).delete("a"), StoredMemory(other).delete, "b")
        assert content(one) == before | {"c": 3}

    def test_set_the_first_value_and_one_wins(self, second, one, other, before):
        inside = lambda: StoredMemory(one).compare_and_set("cursor", MISSING, "mine")  # noqa: E731
        assert not second(inside, StoredMemory(other).compare_and_set, "cursor", MISSING, "yours")
        assert content(one) == before | {"cursor": "mine"}

    def test_set_the_next_value_and_one_wins(self, second, one, other, before):
        StoredMemory(one).merge({"cursor": 1})
        inside = lambda: StoredMemory(one).compare_and_set("cursor", 1, 2)  # noqa: E731
        assert not second(inside, StoredMemory(other).compare_and_set, "cursor", 1, 3)
        assert content(one) == before | {"cursor": 2}

    def test_set_a_value_and_the_second_wins_when_the_first_rolls_back(self, second, one, other, before):
        StoredMemory(one).merge({"cursor": 1})
        inside = lambda: StoredMemory(one).compare_and_set("cursor", 1, 2)  # noqa: E731
        assert second(inside, StoredMemory(other).compare_and_set, "cursor", 1, 3, rolled_back=True)
        assert content(one) == before | {"cursor": 3}

    def test_clear_and_write_and_what_was_written_after_stays(self, second, one, other):
        StoredMemory(one).merge({"old": 1})
        second(StoredMemory(one).clear, StoredMemory(other).merge, {"new": 2})
        assert content(one) == {"new": 2}

    def test_no_reader_waits(self, one, other, elsewhere):
        StoredMemory(one).merge({"a": 1})
        with transaction.atomic():
            StoredMemory(one).merge({"a": 2})
            assert elsewhere(content, other).result(10) == {"a": 1}

    def test_nobody_who_settles_the_job_waits(self, one, elsewhere, tenant):
        """A write locks the memory, and not the job."""
        with transaction.atomic():
            StoredMemory(one).merge({"a": 1})
            assert elsewhere(store.progress, one.id, one.attempt, one.seat, 0.5, "").result(10)


class TestEachVerb:
    def test_merge_replaces_a_value_whole(self, one):
        StoredMemory(one).merge({"a": {"x": 1}, "b": [1]})
        StoredMemory(one).merge({"a": {"y": 2}, "n": None})
        assert content(one) == {"a": {"y": 2}, "b": [1], "n": None}

    def test_remove_passes_over_what_is_not_there(self, one):
        StoredMemory(one).delete("a")
        assert not JobMemory.objects.exists()
        StoredMemory(one).merge({"a": 1, "b": 2})
        StoredMemory(one).delete("a", "z")
        assert content(one) == {"b": 2}

    @pytest.mark.parametrize(
        ("by", "sums"), [(1, [1, 2]), (-2, [-2, -4]), (0.1, [0.1, 0.2]), (10**30, [10**30, 2 * 10**30])]
    )
    def test_increment_begins_at_0_and_adds_exactly(self, one, by, sums):
        assert [StoredMemory(one).increment("n", by) for _ in sums] == sums
        assert content(one) == {"n": sums[-1]}

    @pytest.mark.parametrize("value", ["text", "7", None, True, [1], {}])
    def test_increment_leaves_alone_what_is_no_number(self, one, value):
        StoredMemory(one).merge({"n": value})
        with pytest.raises(InvalidRequest, match="holds no number"):
            StoredMemory(one).increment("n", 1)
        assert content(one) == {"n": value}

    @pytest.mark.parametrize("there", [{}, {"other": 1}, {"a": 1}, {"a": None}])
    @pytest.mark.parametrize("expected", [MISSING, 1, None, "1", True])
    def test_compare_and_set_sets_only_over_what_is_expected(self, one, there, expected):
        """null is a value, and differs from none."""
        if there:
            StoredMemory(one).merge(there)
        fits = repr(there.get("a", MISSING)) == repr(expected)
        assert StoredMemory(one).compare_and_set("a", expected, "new") == fits
        assert content(one) == (there | {"a": "new"} if fits else there)

    def test_clear_leaves_nothing(self, one):
        StoredMemory(one).merge({"a": 1})
        StoredMemory(one).clear()
        assert not JobMemory.objects.exists()
        assert content(one) == {}

    def test_every_write_is_a_touch(self, one):
        writes = [
            lambda: StoredMemory(one).merge({"n": 1}),
            lambda: StoredMemory(one).merge({}),
            lambda: StoredMemory(one).increment("n", 1),
            lambda: StoredMemory(one).compare_and_set("n", 2, 3),
            lambda: StoredMemory(one).compare_and_set("new", MISSING, 3),
            lambda: StoredMemory(one).delete("n"),
        ]
        touched = []
        for write in writes:
            write()
            touched.append(JobMemory.objects.get().touched_at)
        assert touched == sorted(set(touched))

    def test_a_read_is_none(self, one):
        StoredMemory(one).merge({"n": 1})
        touched = JobMemory.objects.get().touched_at
        content(one)
        assert not StoredMemory(one).compare_and_set("n", 7, 8)
        assert JobMemory.objects.get().touched_at == touched


ALL = {
    "recall": content,
    "merge": lambda of: StoredMemory(of).merge({"a": 2}),
    "remove": lambda of: StoredMemory(of).delete("a"),
    "increment": lambda of: StoredMemory(of).increment("a", 1),
    "compare_and_set": lambda of: StoredMemory(of).compare_and_set("a", 1, 2),
    "clear": lambda of: StoredMemory(of).clear(),
}


class TestWhose:
    def test_each_tenant_and_each_job_type_has_its_own(self, one, other, tenant):
        strangers = [
            running(TenantFactory()),
            running(tenant, source_type="sample.thing"),
            running(tenant, source_method="refresh"),
        ]
        StoredMemory(one).merge({"a": 1})
        assert content(other) == {"a": 1}
        for stranger in strangers:
            assert content(stranger) == {}
            for verb in ALL.values():
                verb(stranger)
        assert content(one) == {"a": 1}

    def test_each_object_has_its_own_beside_that_of_its_type(self, one, other):
        ours, theirs = (replace(of, of_object=True) for of in (one, other))
        for of, value in ((one, "type"), (ours, "1"), (theirs, "2")):
            StoredMemory(of).merge({"a": value})
        assert [content(of)["a"] for of in (one, other, ours, theirs)] == ["type", "type", "1", "2"]
        StoredMemory(ours).clear()
        assert [content(of) for of in (one, ours, theirs)] == [{"a": "type"}, {}, {"a": "2"}]

    @pytest.mark.parametrize("verb", ALL.values(), ids=ALL)
    def test_no_job_that_does_not_run_touches_any(self, one, tenant, verb):
        StoredMemory(one).merge({"a": 1})
        for job in [make_job(tenant, status) for status in Status if status != Status.RUNNING]:
            with pytest.raises(StaleAttempt, match=f"attempt {job.attempt} of job {job.pk} does not run any more"):
                verb(remembering(job))
        assert content(one) == {"a": 1}

    @pytest.mark.parametrize("verb", ALL.values(), ids=ALL)
    def test_nor_does_an_earlier_attempt_of_one_that_does(self, one, verb):
        StoredMemory(one).merge({"a": 1})
        with pytest.raises(StaleAttempt):
            verb(replace(one, attempt=one.attempt - 1))
        assert content(one) == {"a": 1}

    @pytest.mark.parametrize("verb", ALL.values(), ids=ALL)
    @pytest.mark.parametrize("holder", [{"pid": NO_PID + 1}, {"worker": uuid.UUID(int=7)}], ids=["process", "worker"])
    def test_nor_does_a_body_elsewhere_whose_job_is_lost_and_whose_number_another_tenants_job_has(
        self, one, verb, holder
    ):
        """After a failover to a standby that lacked the last commits, numbers come again while old bodies still run."""
        StoredMemory(one).merge({"a": 1})
        with pytest.raises(StaleAttempt):
            verb(replace(one, seat=replace(one.seat, **holder)))
        assert content(one) == {"a": 1}


def filling(size: int) -> dict:
    """A memory of so many bytes, most of them in letters of two."""
    letters, odd = divmod(size - len('{"a": ""}'), 2)
    return {"a": "ü" * letters + "u" * odd}


class TestBound:
    def test_is_kept_to_the_byte(self, one):
        StoredMemory(one).merge(filling(MAX_BYTES))
        assert content(one) == filling(MAX_BYTES)
        with pytest.raises(TooLarge, match=r"^memory: would take more than 8,192 bytes as JSON; delete keys, or"):
            StoredMemory(one).merge(filling(MAX_BYTES + 1))
        assert content(one) == filling(MAX_BYTES)

    @pytest.mark.parametrize(
        "write",
        [
            lambda of: StoredMemory(of).merge({"b": 1}),
            lambda of: StoredMemory(of).increment("b", 1),
            lambda of: StoredMemory(of).compare_and_set("b", MISSING, 1),
            lambda of: StoredMemory(of).compare_and_set("a", filling(MAX_BYTES)["a"], "u" * MAX_BYTES),
        ],
    )
    def test_holds_for_what_comes_of_each_verb_and_spares_the_transaction(self, one, write):
        StoredMemory(one).merge(filling(MAX_BYTES))
        with transaction.atomic():
            with pytest.raises(TooLarge):
                write(one)
            assert content(one) == filling(MAX_BYTES)
            StoredMemory(one).merge({"a": "small"})
        assert content(one) == {"a": "small"}

    def test_names_the_memory(self, one):
        with pytest.raises(TooLarge) as refused:
            StoredMemory(replace(one, of_object=True)).merge(filling(MAX_BYTES + 1))
        assert refused.value.field == "object_memory"

    def test_is_the_databases_too(self, tenant):
        of = {"tenant": tenant, "source_type": "sample.thing", "source_method": "echo"}
        JobMemory.objects.create(**of, content=filling(MAX_BYTES))
        with pytest.raises(IntegrityError, match="job_memories_small"):
            JobMemory.objects.update(content=filling(MAX_BYTES + 1))

    def test_hides_no_other_refusal_of_the_database(self, one):
        with pytest.raises(IntegrityError, match="violates check constraint"), transaction.atomic():
            sql("ALTER TABLE job_memories ADD CHECK (source_type <> 'reports.datareport')")
            StoredMemory(one).merge({"a": 1})


class TestForgetting:
    @pytest.fixture
    def kept(self, tenant):
        """A stranger's memory, which nobody touches here."""
        stranger = running(TenantFactory())
        StoredMemory(stranger).merge({"a": "stranger"})
        yield
        assert content(stranger) == {"a": "stranger"}

    @pytest.fixture
    def remembered(self, tenant, kept):
        """Four memories of the tenant: by type, method, and object."""
        runs = [
            running(tenant),
            running(tenant, source_method="refresh"),
            running(tenant, source_type="sample.thing"),
        ]
        runs.append(replace(runs[0], of_object=True))
        for run in runs:
            StoredMemory(run).merge({"a": 1})
        return runs

    def left(self, runs) -> list[bool]:
        return [bool(content(run)) for run in runs]

    def test_a_tenant_forgets_all_and_no_other_does(self, tenant, remembered):
        assert clear_all(tenant) == 4
        assert clear_all(tenant) == 0
        assert self.left(remembered) == [False] * 4

    def test_a_source_type_or_a_job_type(self, tenant, remembered):
        assert clear_all(tenant, "reports.datareport", "refresh") == 1
        assert self.left(remembered) == [True, False, True, True]
        assert clear_all(tenant, "reports.datareport") == 2
        assert self.left(remembered) == [False, False, True, False]

    def test_one_memory_once(self, tenant, remembered):
        mine = JobMemory.objects.get(tenant=tenant, source_type="sample.thing")
        assert clear(mine)
        assert not clear(mine)
        assert self.left(remembered) == [True, True, False, True]

    def test_a_deleted_tenant_leaves_none(self, tenant, remembered):
        tenant.delete()
        assert not JobMemory.objects.filter(tenant_id=tenant.pk).exists()


class TestExpiry:
    TTL = 60.0

    @pytest.fixture(autouse=True)
    def ttl(self, settings):
        settings.JOBS_MEMORY_TTL = self.TTL

    def expire(self, after: float) -> int:
        last = JobMemory.objects.order_by("touched_at").last().touched_at
        return call_at(last + timedelta(seconds=after), expire_memories)

    def test_is_after_so_long_without_a_write(self, one):
        StoredMemory(one).merge({"a": 1})
        assert self.expire(self.TTL) == 0
        assert content(one) == {"a": 1}
        assert self.expire(self.TTL + 0.001) == 1
        assert content(one) == {}

    def test_goes_in_batches_to_the_last(self, one, tenant, monkeypatch):
        monkeypatch.setattr(prune, "BATCH", 2)
        others = [running(tenant, source_method=f"method_{n}") for n in range(2)]
        for of in (*others, one):
            StoredMemory(of).merge({"a": 1})
        assert self.expire(self.TTL + 1) == 3
        assert [content(of) for of in (*others, one)] == [{}, {}, {}]

    def test_waits_for_nobody_who_is_writing(self, one, other, tenant, elsewhere):
        StoredMemory(replace(one, of_object=True)).merge({"a": 1})
        StoredMemory(one).merge({"a": 1})
        with transaction.atomic():
            StoredMemory(one).merge({"b": 1})
            assert elsewhere(self.expire, self.TTL + 1).result(10) == 1
        assert content(one) == {"a": 1, "b": 1}
