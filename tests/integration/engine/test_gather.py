"""Gathered calls: one job, due so long after the first, with the calls of all who came while it waited."""

from datetime import timedelta

import pytest

from jobs import InvalidRequest, async_, batch, cancel, chain, job, results, revive, store, submit_many
from jobs.calls.refusals import TooManyWaiting
from jobs.contrib.testing import drain, freeze_time
from jobs.engine.door.promote import promote
from jobs.engine.verbs import limits
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.models import HELD_UNTIL, Job
from jobs.reading.explain.explanation import explain
from jobs.store import EVERY_TENANT, Failure
from tests.attempts import WORKER
from tests.factories import QueueFactory, TenantFactory
from tests.sample.gathered import WITHIN, embed, index, tidy
from tests.sample.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=1)


@pytest.fixture
def stranger():
    return TenantFactory(queue__num_slots=1)


@pytest.fixture
def worker(register, settings):
    """Claims what is ready."""
    settings.JOBS_BEAT_INTERVAL = 3600.0
    return register()


def calls(job_id: int) -> list[object]:
    return Job.objects.get(pk=job_id).args["calls"]


def due_in(job_id: int, now) -> float | None:
    due = Job.objects.get(pk=job_id).due_at
    return due and (due - now()).total_seconds()


def test_calls_are_one_job_with_one_result_due_so_long_after_the_first(tenant, stranger):
    call = async_(index, tenant=tenant)
    with freeze_time() as time:
        first = call(calls=["a"])
        time.move(WITHIN - 1)
        assert call(calls=["b", "a"], model="small") == first
        foreign = async_(index, tenant=stranger)(calls=["x"])
        assert due_in(first, time) == 1
        assert drain() == []
        time.move(1)
        assert [(attempt.job_id, attempt.value) for attempt in drain()] == [(first, ["a", "b", "a"])]
        time.move(WITHIN)
        assert [(attempt.job_id, attempt.value) for attempt in drain()] == [(foreign, ["x"])]
        assert results.load(Job.objects.get(pk=first)).value == ["a", "b", "a"]
    assert list(Run.objects.values_list("job_id", flat=True)) == [first, foreign]


def test_other_arguments_or_the_declared_key_say_which_calls_belong_together(tenant):
    call, shelf = async_(index, tenant=tenant), async_(tidy, tenant=tenant)
    assert call(calls=[1]) != call(calls=[1], model="large")
    assert call(calls=[2], model="large") == call(calls=[3], model="large")
    first = shelf(calls=[{"shelf": 1}])
    assert first != shelf(calls=[{"shelf": 2}])
    assert shelf(calls=[{"shelf": 1, "book": 2}]) == first
    assert calls(first) == [{"shelf": 1}, {"shelf": 1, "book": 2}]


def test_without_dedup_or_with_another_way_a_call_is_a_job_of_its_own(tenant):
    first = async_(index, tenant=tenant)(calls=[1])
    alone = async_(index, tenant=tenant, dedup=False)(calls=[1])
    joined = async_(index, tenant=tenant, identical="join")(calls=[1])
    assert len({first, alone, joined, async_(index, tenant=tenant, identical="join")(calls=[1])}) == 3
    assert calls(first) == [1]
    assert Job.objects.get(pk=alone).status == "created"


@pytest.mark.django_db(transaction=True)
class TestOnceItIsOn:
    def test_in_line_it_gathers_until_it_is_claimed(self, tenant, worker):
        call = async_(embed, tenant=tenant)
        running = call(calls=[1])
        assert Job.objects.get(pk=running).status == "queued"
        waiting = call(calls=[2])
        assert waiting != running
        assert Job.objects.get(pk=waiting).status == "created"
        assert call(calls=[3]) == waiting
        assert (calls(running), calls(waiting)) == ([1], [2, 3])

    def test_a_job_that_runs_or_waits_for_its_retry_gets_no_calls_and_keeps_its_moment(self, tenant, worker):
        call = async_(index, tenant=tenant)
        with freeze_time() as time:
            first = call(calls=["fail"])
            time.move(WITHIN)
            promote()
            assert store.start(first, 1, store.Seat.here(WORKER))
            second = call(calls=[2])
            assert store.retry(first, 1, Failure("ValueError", "no"), delay=60)
            assert call(calls=[3]) == second
            assert due_in(first, time) == 60
        assert (calls(first), calls(second)) == (["fail"], [2, 3])

    def test_a_job_with_its_key_that_waits_for_its_retry_keeps_its_moment(self, tenant, worker):
        call = async_(index, tenant=tenant)
        with freeze_time() as time:
            first = call(calls=["fail"])
            time.move(WITHIN)
            promote()
            assert store.start(first, 1, store.Seat.here(WORKER))
            assert store.retry(first, 1, Failure("ValueError", "no"), delay=60)
            assert call(calls=[2]) != first
            assert due_in(first, time) == 60

    def test_a_cancelled_one_gets_none_even_when_it_is_revived(self, tenant):
        call = async_(index, tenant=tenant)
        first = call(calls=[1])
        assert cancel(first, tenant_id=tenant.pk)
        second = call(calls=[2])
        assert revive(first, tenant_id=tenant.pk)
        assert call(calls=[3]) == second
        assert calls(first) == [1]

    def test_a_job_of_a_paused_type_gathers_and_stays_held_even_when_it_is_full(self, tenant):
        call = async_(embed, tenant=tenant)
        pause_job_type(embed.__module__, "embed")
        held = call(calls=[1])
        assert call(calls=[2, 3, 4]) == held
        assert call(calls=[5]) != held
        assert Job.objects.get(pk=held).due_at == HELD_UNTIL
        resume_job_type(embed.__module__, "embed")
        assert [attempt.value for attempt in drain()] == [4, 1]


class TestBounds:
    def test_a_full_job_is_due_at_once_and_the_next_call_is_a_new_one(self, tenant):
        call = async_(index, tenant=tenant)
        with freeze_time() as time:
            first = call(calls=[1])
            assert call(calls=[2, 3, 4]) == first
            assert due_in(first, time) == 0
            second = call(calls=[5])
            assert due_in(second, time) == WITHIN
            assert [attempt.value for attempt in drain()] == [[1, 2, 3, 4]]
        assert (calls(first), calls(second)) == ([1, 2, 3, 4], [5])

    @pytest.mark.parametrize("bound", ["number", "size"])
    def test_calls_for_which_there_is_no_room_are_a_new_job_and_the_old_one_is_due(self, bound, tenant, settings):
        call = async_(index, tenant=tenant, priority=9)
        few, many = ["a", "b"], ["c", "d", "e"]
        if bound == "size":
            settings.JOBS_ARGS_MAX_BYTES = 60
            few, many = ["a" * 20], ["b" * 25]
        with freeze_time() as time:
            old = call(calls=few)
            new = async_(index, tenant=tenant, priority=0)(calls=many)
            assert new != old
            assert (due_in(old, time), due_in(new, time)) == (0, WITHIN)
        assert (calls(old), calls(new)) == (few, many)
        assert Job.objects.get(pk=old).priority == 9

    def test_a_size_that_just_fits_fits(self, tenant, settings):
        settings.JOBS_ARGS_MAX_BYTES = len('{"calls": ["aaaa", "bbbb"]}')
        call = async_(index, tenant=tenant)
        assert call(calls=["aaaa"]) == call(calls=["bbbb"])

    def test_a_call_that_is_full_by_itself_is_a_job_of_its_own_and_ready(self, tenant):
        call = async_(index, tenant=tenant)
        waits, full = call(calls=[0]), call(calls=[1, 2, 3, 4])
        assert Job.objects.get(pk=full).status == "created"
        assert call(calls=[5]) == waits

    def test_a_full_backlog_refuses_a_new_job_and_no_further_call(self, tenant):
        call = async_(index, tenant=tenant)
        first = call(calls=[1])
        limits.change(tenant.jobs_queue, {"max_waiting": 1})
        assert call(calls=[2]) == first
        with pytest.raises(TooManyWaiting):
            call(calls=[3], model="large")


class TestManyAtOnce:
    def test_the_calls_of_one_submit_are_put_together(self, tenant, stranger):
        mine, foreign = async_(index, tenant=tenant), async_(index, tenant=stranger)
        waiting = mine(calls=[0])
        asked = [mine.request(calls=[n]) for n in range(1, 6)]
        ids = submit_many([foreign.request(calls=["x"]), *asked[:3], foreign.request(calls=["y"]), *asked[3:]])
        assert ids[0] == ids[4]
        assert calls(ids[0]) == ["x", "y"]
        assert ids[1:4] == [ids[1]] * 3
        assert ids[5] == ids[1]
        assert ids[6] == waiting
        assert (calls(ids[1]), calls(waiting)) == ([1, 2, 3, 4], [0, 5])

    def test_calls_that_are_too_large_together_are_several_jobs(self, tenant, settings):
        settings.JOBS_ARGS_MAX_BYTES = 60
        ids = async_(index, tenant=tenant).many({"calls": [letter * 20]} for letter in "abc")
        assert [calls(job_id) for job_id in ids] == [[letter * 20] for letter in "abc"]

    def test_the_most_urgent_of_them_counts_and_a_refusal_names_the_one_that_was_given(self, tenant):
        urgent, patient = (async_(index, tenant=tenant, priority=priority) for priority in (1, 8))
        ids = submit_many([patient.request(calls=[1]), urgent.request(calls=[2]), patient.request(calls=[3])])
        assert Job.objects.get(pk=ids[0]).priority == 1
        wrong = async_(index, tenant=tenant, queue="unknown").request(calls=[5], model="large")
        with pytest.raises(InvalidRequest) as refused:
            submit_many([urgent.request(calls=[1]), urgent.request(calls=[2]), urgent.request(calls=[3]), wrong])
        assert (refused.value.field, refused.value.index) == ("queue", 3)

    def test_a_batch_gathers_only_its_own_calls(self, tenant):
        call = async_(index, tenant=tenant)
        outside = call(calls=[0])
        with batch("nightly", on_success=call.request(calls=[9])) as nightly:
            ids = [nightly.add(call.request(calls=[n]))[0] for n in (1, 2)]
        assert ids == [ids[0]] * 2
        assert nightly.progress().total == 1
        assert call(calls=[3]) == outside
        assert calls(ids[0]) == [1, 2]
        assert [attempt.value for attempt in drain(later=True)] == [[0, 3], [1, 2], [9]]


class TestOptions:
    @pytest.mark.django_db(transaction=True)
    def test_the_most_urgent_call_decides_the_priority_and_the_first_one_the_rest(self, tenant, worker):
        QueueFactory(name="other")
        running = async_(embed, tenant=tenant)(calls=[0])
        first = async_(embed, tenant=tenant, user="ann", timeout=30, priority=5)(calls=[1])
        assert async_(embed, tenant=tenant, user="bob", timeout=60, priority=2, queue="other")(calls=[2]) == first
        assert async_(embed, tenant=tenant, priority=9)(calls=[3]) == first
        made = Job.objects.get(pk=first)
        assert (made.priority, made.user_key, made.timeout, made.queue.name) == (2, "ann", 30, "default")
        between = async_(embed, tenant=tenant, dedup=False, priority=4)(calls=[4])
        assert store.succeed(running, 1, {}, None, by=store.start(running, 1, store.Seat.here(WORKER)).holder)
        assert [attempt.job_id for attempt in drain()] == [first, between]
        assert store.recount_waiting(all_tenants=True) == []
        assert store.wrong_books() == []

    def test_each_call_lets_it_wait_as_long_as_its_own_job_would(self, tenant):
        call = async_(tidy, tenant=tenant)
        with freeze_time() as time:
            first, begun = call(calls=[{"shelf": 1}]), time()
            time.move(4)
            call(calls=[{"shelf": 1}])
            assert Job.objects.get(pk=first).expires_at == begun + timedelta(seconds=4 + WITHIN + 5)
            time.move(WITHIN + 5)
            assert call(calls=[{"shelf": 1}]) != first  # it has expired, and nobody has cancelled it yet

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"delay": 5}, "delay: index gathers calls, and its @job says when they run: leave delay out"),
            ({"delay": 0}, "delay: index gathers"),
            ({"expires": 5}, "expires: index gathers"),
            ({"after": [1]}, "after: give either after, or identical, not both: identical='join' overrules"),
            ({"sequence": "a"}, "sequence: give either sequence, or identical"),
        ],
    )
    def test_an_option_of_one_call_alone_is_refused(self, options, message, tenant):
        with pytest.raises(InvalidRequest, match=message):
            async_(index, tenant=tenant, **options)(calls=[1])
        assert not Job.objects.exists()

    def test_in_a_chain_it_is_refused_with_the_remedy(self, tenant):
        call = async_(index, tenant=tenant)
        with pytest.raises(InvalidRequest, match="after: give either after, or identical"):
            chain(async_(embed, tenant=tenant, dedup=False).request(calls=[1]), call.request(calls=[1]))

    @pytest.mark.parametrize(
        ("given", "what"), [([], "0"), (list(range(5)), "5"), ("ab", "str"), ({"a": 1}, "dict"), (None, "NoneType")]
    )
    def test_calls_that_are_no_list_of_so_many_are_refused(self, given, what, tenant):
        for options in ({}, {"dedup": False}):
            with pytest.raises(
                InvalidRequest, match=f"args: calls must be a list of 1 to 4 calls for index, not {what}"
            ):
                async_(index, tenant=tenant, **options)(calls=given)

    def test_a_method_that_does_not_gather_is_not_made_to(self, tenant):
        from tests.sample.sequenced import odd

        with pytest.raises(InvalidRequest, match=r"identical: odd does not gather calls; mark it @job\(identical="):
            async_(odd, tenant=tenant, identical="gather", sequence=None)()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"identical": "gather"}, "give within, in seconds, together with identical='gather'"),
            ({"within": 5}, "give within, in seconds, together with identical='gather'"),
            ({"identical": "gather", "within": -1}, "within is a number of seconds from 0"),
            ({"identical": "gather", "within": "5"}, "within is a number of seconds from 0"),
            ({"identical": "gather", "within": 5, "most_calls": 1}, "most_calls is a whole number, 2 or more"),
            ({"identical": "gather", "within": 5, "dedup": False}, "all but join need dedup"),
            ({"identical": "gather", "within": 5, "sequence": lambda: 1}, "give either sequence, or identical"),
            ({"identical": "gather", "within": 5}, "gathers calls, so it needs the argument `calls`, a list"),
        ],
    )
    def test_a_mark_that_cannot_gather_is_refused_where_it_stands(self, options, message):
        with pytest.raises(TypeError, match=message):
            job(**options)(lambda *, documents: None)


def test_explain_says_how_many_calls_it_has_until_it_has_ended(tenant):
    call = async_(index, tenant=tenant)
    with freeze_time():
        first = call(calls=[1])
        assert " It has gathered 1 call." in explain(first, tenant_id=EVERY_TENANT).sentence
        call(calls=[2, 3])
        assert " It has gathered 3 calls." in explain(first, tenant_id=EVERY_TENANT).sentence
