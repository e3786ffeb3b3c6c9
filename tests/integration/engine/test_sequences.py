"""The jobs of a sequence run one at a time, in the order of submission, whatever becomes of each of them."""

from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs import async_, batch, chain, store, submit_many
from jobs.calls.refusals import InvalidRequest
from jobs.contrib.testing import drain
from jobs.engine.door.unblock import unblock
from jobs.engine.schedules.run import run_due
from jobs.engine.upkeep.history import Archive
from jobs.engine.verbs.cancel import cancel
from jobs.engine.verbs.erase import erase
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.engine.verbs.revive import discard, revive
from jobs.lifecycle import Status
from jobs.models import ArchivedJob, Job, JobEdge, JobEnd, Schedule, ScheduleRun
from jobs.store import Failure
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory, make_job, status, statuses
from tests.sample.models import Run
from tests.sample.sequenced import book, insist, odd, pay

pytestmark = pytest.mark.django_db
LATER = timezone.now() + timedelta(days=3)
A = "acct-7"


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=5)


@pytest.fixture
def stranger():
    return TenantFactory(queue__num_slots=5)


def submit(tenant, count: int = 1, function=book, **options) -> list[int]:
    return [async_(function, tenant=tenant, **options)(account=A) for _ in range(count)]


def states(ids: list[int]) -> str:
    """The first letters of the statuses: `b` blocked, `c` created."""
    unblock()
    assert not JobEnd.objects.exists()
    return " ".join(status(job_id)[:4] for job_id in ids)


def begin(job_id: int) -> None:
    """A process has started it."""
    row = make_job(TenantFactory(), Status.RUNNING)  # for a holder's columns
    holder = {name: getattr(row, name) for name in ("ticket", "worker", "worker_pid", "queued_at", "start_time")}
    Job.objects.filter(pk=job_id).update(status="running", slot=1, ready_at=None, attempt=1, **holder)


def end(job_id: int, how: str = "success") -> None:
    """It ran, and ended so."""
    begin(job_id)
    if how == "success":
        assert store.succeed(job_id, 1, {}, None)
    else:
        assert store.fail(job_id, 1, Failure("ValueError", "no"), dead=how == "dead")


def test_jobs_of_a_sequence_run_in_the_order_of_submission(tenant):
    ids = [async_(book, tenant=tenant)(account=A, amount=n) for n in range(5)]
    assert [attempt.job_id for attempt in drain()] == ids
    assert list(Run.objects.order_by("id").values_list("job_id", flat=True)) == ids


def test_one_goes_and_the_next_waits_until_it_has_ended(tenant):
    ids = submit(tenant, 3)
    assert states(ids) == "crea bloc bloc"
    begin(ids[0])
    assert states(ids) == "runn bloc bloc"
    assert store.succeed(ids[0], 1, {}, None)
    assert states(ids) == "succ crea bloc"
    assert not JobEdge.objects.exists()


def test_sequences_of_other_names_and_other_tenants_do_not_wait(tenant, stranger):
    [mine], [theirs] = submit(tenant), submit(stranger)
    other = async_(book, tenant=tenant)(account="acct-8")
    assert states([mine, theirs, other]) == "crea crea crea"
    end(theirs, "error")
    [second] = submit(tenant)
    assert states([second]) == "bloc", "a stranger's end is no turn of mine"


def test_a_sequence_goes_through_all_queues_and_job_types(tenant):
    QueueFactory(name="critical")
    ids = [
        *submit(tenant, queue="critical", priority=0),
        *submit(tenant, function=insist),
        async_(book, tenant=tenant, sequence=A)(account="x"),
    ]
    assert states(ids) == "crea bloc bloc"


@pytest.mark.parametrize("how", ["success", "error", "dead"])
def test_the_next_goes_on_after_any_end(tenant, how):
    ids = submit(tenant, 2)
    states(ids)
    end(ids[0], how)
    assert states(ids[1:]) == "crea"


def test_a_job_that_is_retried_keeps_its_turn(tenant):
    first = async_(insist, tenant=tenant)(account=A, amount=-1)
    second = async_(insist, tenant=tenant)(account=A)
    drain(later=True, raising=False)
    assert list(Run.objects.order_by("id").values_list("job_id", flat=True)) == [first, first, second]


def test_a_job_cancelled_in_the_middle_lets_nobody_past_the_one_that_runs(tenant):
    ids = submit(tenant, 3)
    states(ids)
    begin(ids[0])
    assert cancel(ids[1], tenant_id=tenant.pk) == "cancelled"
    assert states(ids) == "runn canc bloc"
    assert store.succeed(ids[0], 1, {}, None)
    assert states(ids) == "succ canc crea"


def test_a_job_that_expires_in_the_middle_lets_nobody_past(tenant):
    ids = [*submit(tenant), *submit(tenant, expires=60), *submit(tenant)]
    states(ids)
    call_at(LATER, store.lapse)
    assert states(ids) == "crea canc bloc"


def test_a_job_whose_predecessor_failed_lets_nobody_past(tenant):
    failed = make_job(tenant, Status.ERROR).pk
    first = submit(tenant)
    states(first)
    ids = [*first, *submit(tenant, after=failed), *submit(tenant)]
    assert states(ids) == "crea canc bloc"
    end(ids[0])
    assert states(ids) == "succ canc crea"


def test_a_job_after_another_holds_its_place_until_that_has_ended(tenant):
    before = make_job(tenant, Status.RUNNING).pk
    ids = [*submit(tenant, after=before), *submit(tenant)]
    assert states(ids) == "bloc bloc"
    assert store.succeed(before, 1, {}, None)
    assert states(ids) == "crea bloc"


def test_a_job_whose_predecessors_have_ended_still_waits_for_its_turn(tenant):
    first_before, before = (make_job(tenant, Status.RUNNING).pk for _ in range(2))
    ids = [*submit(tenant, after=first_before), *submit(tenant, after=before)]
    assert store.succeed(before, 1, {}, None)
    assert states(ids) == "bloc bloc", "nobody goes, but one waits before it"
    assert store.succeed(first_before, 1, {}, None)
    assert states(ids) == "crea bloc"
    end(ids[0])
    assert states(ids) == "succ crea"


def test_many_in_one_statement_run_in_the_order_of_the_list(tenant):
    ids = submit_many(async_(book, tenant=tenant).request(account=f"acct-{n % 2}", amount=n) for n in range(6))
    assert statuses() == ["blocked"] * 6
    assert states(ids) == "crea crea bloc bloc bloc bloc"
    ran = [attempt.job_id for attempt in drain()]
    assert [job_id for job_id in ran if job_id in ids[::2]] == ids[::2]
    assert [job_id for job_id in ran if job_id in ids[1::2]] == ids[1::2]


def test_a_thousand_of_one_sequence_leave_one_row_of_news(tenant):
    ids = async_(book, tenant=tenant).many({"account": A, "amount": n} for n in range(1000))
    assert JobEnd.objects.count() == 1
    assert states(ids[:3]) == "crea bloc bloc"
    assert not JobEdge.objects.exists()


def test_a_submit_that_is_rolled_back_holds_nobody_up(tenant):
    with pytest.raises(LookupError), transaction.atomic():
        submit(tenant)
        raise LookupError
    assert states(submit(tenant)) == "crea"
    assert Job.objects.count() == 1


def test_each_call_of_a_sequence_is_a_job_however_equal(tenant):
    amounts = (5, 7, 5)
    ids = [async_(book, tenant=tenant)(account=A, amount=amount) for amount in amounts]
    assert len(set(ids)) == 3, "joined, the last amount would be 7"
    assert not Job.objects.filter(dedup_key__isnull=False).exists()


def test_a_call_without_a_name_is_in_no_sequence(tenant):
    first, second = (async_(book, tenant=tenant)(account=None) for _ in range(2))
    assert first == second, "it is joined, as ever"
    assert (status(first), Job.objects.get(pk=first).sequence) == ("created", None)


def test_steps_of_a_chain_in_one_sequence_run_once_each(tenant):
    ids = chain(*(async_(book, tenant=tenant).request(account=A, amount=n) for n in range(3)))
    assert [attempt.job_id for attempt in drain()] == ids


def test_jobs_of_a_batch_may_be_in_a_sequence(tenant):
    with batch("b", tenant=tenant, on_end=async_(book, tenant=tenant).request(account="z")) as nightly:
        ids = nightly.add(async_(book, tenant=tenant).request(account=A, amount=n) for n in range(3))
    assert [attempt.job_id for attempt in drain()][:3] == ids
    assert nightly.progress().success == 3
    assert Job.objects.filter(status="success").count() == 4


def test_a_job_whose_type_is_paused_keeps_its_turn(tenant):
    pause_job_type("tests.sample.sequenced", "book")
    ids = [*submit(tenant), *submit(tenant, function=insist)]
    assert states(ids) == "crea bloc"
    drain()
    assert states(ids) == "sche bloc", "it is held when its turn has come"
    resume_job_type("tests.sample.sequenced", "book")
    assert len(drain(later=True)) == 2


@pytest.mark.parametrize("how", ["error", "dead", "cancelled"])
def test_a_revived_job_waits_for_the_one_that_goes_and_then_comes_first(tenant, how):
    ids = submit(tenant, 3)
    states(ids)
    if how == "cancelled":
        cancel(ids[0], tenant_id=tenant.pk)
    else:
        end(ids[0], how)
    states(ids)
    begin(ids[1])
    assert revive(ids[0], tenant_id=tenant.pk)
    assert states(ids) == "bloc runn bloc"
    assert store.succeed(ids[1], 1, {}, None)
    assert states(ids) == "crea succ bloc"


def test_a_revived_job_runs_at_once_if_its_sequence_is_idle(tenant):
    ids = submit(tenant)
    states(ids)
    end(ids[0], "error")
    assert revive(ids[0], tenant_id=tenant.pk)
    assert states(ids) == "crea"


def test_a_stranger_revives_no_job_of_a_sequence(tenant, stranger):
    ids = submit(tenant)
    states(ids)
    end(ids[0], "error")
    assert not revive(ids[0], tenant_id=stranger.pk)
    assert states(ids) == "erro"


def test_a_job_revived_while_it_waited_for_others_waits_only_for_its_turn(tenant):
    before = make_job(tenant, Status.RUNNING).pk
    ids = submit(tenant, after=before)
    states(ids)
    cancel(ids[0], tenant_id=tenant.pk)
    assert revive(ids[0], tenant_id=tenant.pk)
    assert states(ids) == "crea"
    assert store.fail(before, 1, Failure("ValueError", "no"))
    assert states(ids) == "crea"


def test_a_job_restored_while_the_one_it_waited_for_runs_waits_only_for_its_turn(tenant):
    before = make_job(tenant, Status.RUNNING).pk
    ids = submit(tenant, after=before)
    states(ids)
    cancel(ids[0], tenant_id=tenant.pk)
    Job.objects.filter(pk=ids[0]).update(end_time=timezone.now() - timedelta(days=2))
    assert Archive().run() == 1
    assert JobEdge.objects.exists()
    assert revive(ids[0], tenant_id=tenant.pk)
    assert states(ids) == "crea"
    assert not JobEdge.objects.exists()


def test_a_job_restored_from_the_history_waits_for_its_turn(tenant):
    ids = submit(tenant, 2)
    states(ids)
    end(ids[0], "error")
    states(ids)
    begin(ids[1])
    Job.objects.filter(pk=ids[0]).update(end_time=timezone.now() - timedelta(days=2))
    assert Archive().run() == 1
    assert (ArchivedJob.objects.get().sequence, states(ids)) == (A, "erro runn")
    assert revive(ids[0], tenant_id=tenant.pk)
    assert states(ids) == "bloc runn"
    assert store.succeed(ids[1], 1, {}, None)
    assert states(ids) == "crea succ"


def test_the_database_refuses_a_second_one_that_goes(tenant):
    ids = submit(tenant, 2)
    states(ids)
    with pytest.raises(IntegrityError, match="jobs_one_of_sequence"), transaction.atomic():
        Job.objects.filter(pk=ids[1]).update(status="created", blocked_at=None, ready_at=timezone.now())


def test_a_job_that_is_deleted_lets_the_next_go(tenant):
    ids = submit(tenant, 2)
    states(ids)
    Job.objects.filter(pk=ids[0]).delete()
    assert states(ids[1:]) == "crea"


def test_the_sequences_of_a_deleted_tenant_are_gone_and_those_of_a_stranger_stay(tenant, stranger):
    submit(tenant, 2)
    ids = submit(stranger, 2)
    tenant.delete()
    assert states(ids) == "crea bloc"
    assert not Job.objects.filter(sequence=A).exclude(tenant_id=stranger.pk).exists()


def test_a_tenant_may_wait_for_its_turn_only_within_its_backlog(tenant):
    tenant.jobs_queue.max_waiting = 2
    tenant.jobs_queue.save()
    submit(tenant, 2)
    assert store.backlog(tenant.pk) == (2, 2)


def test_awaitable_and_bulk_twins_submit_into_the_sequence(tenant):
    one = async_to_sync(async_(book, tenant=tenant).asubmit)(account=A)
    many = async_to_sync(async_(book, tenant=tenant).amany)([{"account": A, "amount": n} for n in (1, 2)])
    assert states([one, *many]) == "crea bloc bloc"


def test_a_due_time_of_a_schedule_is_a_job_of_the_sequence(tenant):
    [under_way] = submit(tenant)
    call = {"source_type": "tests.sample.sequenced", "source_method": "book", "args": {"account": A}}
    Schedule.objects.create(
        tenant=tenant, name="hourly", every=3600.0, next_due=timezone.now(), next_at=timezone.now(), **call
    )
    assert run_due() == 1
    run = ScheduleRun.objects.get()
    assert states([under_way, run.job_id]) == "crea bloc"


# Sequences that a failure stops


@pytest.fixture
def stopped(tenant) -> list[int]:
    """The first has failed, and two wait."""
    ids = [async_(pay, tenant=tenant)(account=A, amount=-1), *submit(tenant, 2, pay)]
    (attempt,) = drain(raising=False)
    assert attempt.job_id == ids[0]
    assert states(ids) == "dead bloc bloc", "without a policy, too: people find it in the dead letters"
    return ids


def test_a_failure_stops_its_sequence_also_for_later_calls(tenant, stopped):
    later = async_(book, tenant=tenant, sequence=A)(account="x")
    assert states([*stopped, later]) == "dead bloc bloc bloc"
    assert drain() == []


def test_a_failure_stops_its_sequence_also_if_nobody_waits(tenant):
    async_(pay, tenant=tenant)(account=A, amount=-1)
    drain(raising=False)
    assert states(submit(tenant, 1, pay)) == "bloc"


def test_a_stopped_sequence_stops_no_strangers_and_no_others(tenant, stranger, stopped):
    theirs = submit(stranger, 1, pay)
    other = async_(pay, tenant=tenant)(account="acct-8")
    assert states([*theirs, other]) == "crea crea"


def test_the_job_that_stopped_the_others_is_the_next_once_it_is_revived(tenant, stopped):
    assert revive(stopped[0], tenant_id=tenant.pk)
    assert states(stopped) == "crea bloc bloc"
    drain(raising=False)
    assert states(stopped) == "dead bloc bloc"


def test_the_others_go_on_when_the_job_that_stopped_them_is_discarded(stopped):
    assert discard(stopped[0])
    assert states(stopped) == "canc crea bloc"
    assert [attempt.job_id for attempt in drain()] == stopped[1:]


def test_the_others_go_on_when_the_job_that_stopped_them_is_too_old_to_be_kept(stopped):
    assert call_at(LATER, store.expire_dead, 0)
    assert states(stopped[1:]) == "crea bloc"


def test_a_cancelled_job_stops_nothing(tenant):
    ids = submit(tenant, 3, pay)
    states(ids)
    cancel(ids[0], tenant_id=tenant.pk)
    assert states(ids) == "canc crea bloc"


def test_a_waiting_job_of_a_stopped_sequence_may_be_cancelled(tenant, stopped):
    cancel(stopped[1], tenant_id=tenant.pk)
    assert states(stopped) == "dead canc bloc"


def test_a_crash_stops_its_sequence_as_a_failure_does(tenant, settings):
    ids = submit(tenant, 2, pay)
    states(ids)
    begin(ids[0])
    assert store.take_back(ids[0], 1, Failure("ProcessDied", "killed"), max_crashes=1) == "dead"
    assert states(ids) == "dead bloc"


def test_an_erased_job_stops_its_sequence_until_it_is_discarded(tenant, stopped):
    erase(tenant.pk)
    assert states(stopped) == "dead bloc bloc"
    assert discard(stopped[0])
    assert states(stopped) == "canc crea bloc"
    assert Job.objects.get(pk=stopped[0]).sequence is None


def test_the_name_of_a_sequence_is_erased_with_its_ended_jobs(tenant, stranger):
    ids = [*submit(tenant), *submit(stranger)]
    states(ids)
    for job_id in ids:
        end(job_id)
    erase(tenant.pk)
    assert [Job.objects.get(pk=job_id).sequence for job_id in ids] == [None, A]


# Names, and options beside a sequence


@pytest.mark.parametrize("name", ["", "x" * 201, 1.5, True, ["x"], "a\x00b"])
def test_a_name_that_cannot_be_one_is_refused(tenant, name):
    with pytest.raises(InvalidRequest, match=r"^sequence: "):
        async_(book, tenant=tenant, sequence=name)(account="x")
    assert not Job.objects.exists()


@pytest.mark.parametrize("account", ["", "x" * 201, 1.5, True, ["x"]])
def test_a_function_whose_value_is_no_name_is_refused(tenant, account):
    with pytest.raises(InvalidRequest, match=r"^sequence: must be text of 1 to 200 characters"):
        async_(book, tenant=tenant)(account=account)
    assert not Job.objects.exists()


def test_a_whole_number_is_a_name(tenant):
    ids = [async_(book, tenant=tenant)(account=account) for account in (7, "7")]
    assert states(ids) == "crea bloc"


def test_a_function_that_fails_for_the_arguments_is_an_invalid_request(tenant):
    with pytest.raises(InvalidRequest, match=r"^args: the sequence of odd cannot take these: TypeError"):
        async_(odd, tenant=tenant)()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"delay": 5}, "sequence"),
        ({"at": LATER}, "sequence"),
        ({"identical": "replace"}, "sequence"),
        ({"identical": "debounce", "delay": 5}, "sequence"),
        ({"dedup": True}, "dedup"),
    ],
)
def test_an_option_that_a_sequence_cannot_keep_is_refused(tenant, options, field):
    with pytest.raises(InvalidRequest, match=rf"^{field}: "):
        async_(book, tenant=tenant, **options)(account=A)
    assert not Job.objects.exists()
