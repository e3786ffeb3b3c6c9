"""What a look sees: the facts of conditions and metrics, from real rows."""

import uuid
from bisect import bisect
from datetime import timedelta

import psycopg
import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.utils import timezone

from embedded.postgresql import ADMIN
from jobs import store
from jobs.lifecycle import Status
from jobs.management.commands import check_health
from jobs.models import Job, JobMinute, Queue, Recorded, Total, Worker
from jobs.reading import waits
from jobs.reading.health import conditions, look, looks
from jobs.reading.health.conditions import RULES
from jobs.reading.statistics import BOUNDS, BUCKETS
from jobs.store import partitions
from tenants.models import TenantQueue
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.sql import sql

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=3)


def pool(now=None):
    [found] = call_at(now, look).pools
    return found


def in_queue(name, now=None):
    """The numbers of a queue, and the jobs in it that may run."""
    facts = call_at(now, look)
    [numbers] = [one for one in facts.standings if one.queue.name == name]
    [queue_id] = [pk for pk, queue in facts.queues.items() if queue.name == name]
    return numbers, waits.may_run(facts.lanes, facts.queues)[queue_id]


def ready(tenant, count=1, **fields):
    """Jobs that wait, noted in their lanes; no process is there to run them."""
    jobs = [make_job(tenant, Status.CREATED, **fields) for _ in range(count)]
    store.claim()
    return jobs


class TestQuiet:
    """Full pools in which nothing has ended for a minute or more."""

    @pytest.fixture
    def run(self, register, tenant):
        """`run(ago, ...)`: jobs of a full pool that began so many seconds ago, one of a type each time it is given."""
        worker, queue = register(concurrency=2, pool="mail"), QueueFactory(name="mail", pool="mail")

        def run(*ago: float, **fields) -> list[Job]:
            moments = [timezone.now() - timedelta(seconds=seconds) for seconds in ago]
            place = {"queue": queue, "worker": worker}
            return [make_job(tenant, Status.RUNNING, **place | {"start_time": at} | fields) for at in moments]

        return run

    @pytest.fixture(autouse=True)
    def known(self):
        """Of 20 successes of the usual type all took some 50 s; of another one 19 took 5 ms, and one an hour."""

        def total(method: str, *times: float) -> None:
            buckets = [0] * BUCKETS
            for time in times:
                buckets[bisect(BOUNDS, time)] += 1
            same = {"source_type": "reports.datareport", "source_method": method, "run_seconds": 1, "attempts": 20}
            waits = {"wait_buckets": buckets, "wait_seconds": 0, "process_wait_seconds": 0}
            for outcome, seen in (("success", buckets), ("snooze", [9999] + [0] * (BUCKETS - 1))):
                Total.objects.create(queue_id=1, outcome=outcome, run_buckets=seen, **same, **waits)

        total("execute", *[50.0] * 20)
        total("quick", *[0.001] * 19, 3600.0)
        total("new", *[50.0] * 19)

    def test_a_quiet_pool_is_known_since_when_and_with_what_is_usual_for_its_slowest_type(self, run):
        run(900, source_method="quick")
        run(700)
        [quiet] = look().quiet
        assert (quiet.pool.name, quiet.pool.processes) == ("mail", 2)
        assert 700 <= quiet.seconds < 710
        assert 40 < quiet.usual < 60
        assert [one.code for one in conditions(look())].count("nothing_ends") == 1

    @pytest.mark.parametrize("last", ["free", "young", "starts", "unknown", "hardly known"])
    def test_a_pool_is_not_quiet(self, run, last):
        others = {"young": {"ago": 20}, "unknown": {"source_method": "never"}, "hardly known": {"source_method": "new"}}
        run(900)
        if last == "starts":
            (job,) = run(900)
            Job.objects.filter(pk=job.pk).update(status=Status.QUEUED, worker=None, worker_pid=None, start_time=None)
        elif last != "free":
            what = others[last]
            run(what.pop("ago", 900), **what)
        assert look().quiet == []

    def test_another_pool_is_judged_by_itself(self, run, register, tenant):
        run(900, 900)
        register(concurrency=2, pool="other")
        busy = QueueFactory(name="other", pool="other")
        make_job(TenantFactory(), Status.RUNNING, queue=busy, start_time=timezone.now() - timedelta(hours=1))
        assert [one.pool.name for one in look().quiet] == ["mail"]


class TestMayRun:
    def test_as_many_as_its_tenant_has_free_slots(self, tenant):
        make_job(tenant, Status.RUNNING)
        ready(tenant, 5)
        assert (pool().in_use, pool().may_run, pool().demand) == (1, 2, 3)

    def test_all_if_there_are_fewer(self, tenant):
        ready(tenant, 2)
        assert pool().may_run == 2

    @pytest.mark.parametrize("closed", [{"paused": True}, {"num_slots": 0}])
    def test_no_job_of_a_closed_tenant_may_run(self, tenant, closed):
        ready(tenant)
        TenantQueue.objects.filter(tenant=tenant).update(**closed)
        assert pool().may_run == 0

    def test_no_job_of_a_tenant_over_its_slots_may_run(self, tenant):
        for _ in range(3):
            make_job(tenant, Status.RUNNING)
        ready(tenant, 2)
        TenantQueue.objects.filter(tenant=tenant).update(num_slots=1)
        assert pool().may_run == 0

    def test_jobs_of_a_paused_queue_may_not_run_and_take_no_slot(self, tenant):
        first, second = QueueFactory(name="first"), QueueFactory(name="second")
        ready(tenant, 3, queue=first)
        ready(tenant, 2, queue=second)
        Queue.objects.filter(pk=first.pk).update(paused=True)
        assert (in_queue("first")[1], in_queue("second")[1]) == (0, 2)

    def test_the_slots_of_a_tenant_are_counted_once_for_all_its_queues(self, tenant):
        for name in ("first", "second"):
            ready(tenant, 2, queue=QueueFactory(name=name))
        assert (in_queue("first")[1], in_queue("second")[1]) == (2, 1)

    @pytest.mark.parametrize("limit", [{"concurrency": 1}, {"rate_limit": 1, "rate_window": 60.0}])
    def test_no_more_than_the_queue_allows(self, tenant, limit):
        ready(tenant, 3)
        Queue.objects.update(**limit)
        QueueFactory(name="idle", **limit)
        assert pool().may_run == 1

    def test_no_more_than_the_tenants_rate_allows(self, tenant):
        ready(tenant, 3)
        TenantQueue.objects.filter(tenant=tenant).update(rate_limit=2, rate_window=60.0)
        assert pool().may_run == 2

    def test_for_as_long_as_the_first_of_them_is_ready(self, tenant):
        now = timezone.now()
        ready(tenant, ready_at=now - timedelta(seconds=40))
        ready(tenant, ready_at=now - timedelta(seconds=5))
        assert pool(now).first_since == now - timedelta(seconds=40)

    def test_a_job_that_waits_for_a_slot_is_waiting_and_does_not_count(self, tenant):
        now = timezone.now()
        for _ in range(3):
            make_job(tenant, Status.RUNNING)
        ready(tenant, 2, ready_at=now - timedelta(seconds=40))
        queue, may_run = in_queue("default", now)
        assert (queue.waiting, may_run, pool(now).first_since) == (2, 0, None)
        assert queue.first_since == now - timedelta(seconds=40)

    def test_a_job_due_later_is_not_in_line(self, tenant):
        make_job(tenant, Status.SCHEDULED, due_at=timezone.now() + timedelta(hours=1))
        store.claim()
        queue, may_run = in_queue("default")
        assert (queue.waiting, may_run) == (0, 0)


def test_a_pool_has_the_processes_of_its_live_workers(tenant, register):
    QueueFactory()
    register(concurrency=3)
    Worker.objects.filter(pk=register(concurrency=5)).update(beat_at=timezone.now() - timedelta(minutes=1))
    Worker.objects.filter(pk=register(concurrency=7)).update(gone_at=timezone.now())
    register(concurrency=0)
    assert pool().processes == 3
    assert look().worker_states == [("default", "draining", 1), ("default", "live", 1), ("default", "silent", 1)]


def test_a_lost_worker_is_told_of_for_an_hour_and_one_that_stopped_is_not(tenant, register):
    QueueFactory()
    stopped, lost, now = register(), register(), timezone.now()
    store.leave(stopped)
    store.declare_gone(now=now + timedelta(minutes=1))
    store.bar_worker(uuid.uuid4())  # one that never registered
    assert Worker.objects.get(pk=lost).lost

    def seen(minutes):
        states = call_at(now + timedelta(minutes=minutes), look).worker_states
        return {pool: workers for pool, state, workers in states if state == "lost"}

    assert seen(2) == {"default": 1, "": 1}
    assert seen(60.9) == {"default": 1}
    assert seen(62) == {}


def test_the_last_beat_of_a_pool_without_workers_is_known(tenant, register):
    ready(tenant)
    assert look().last_beat("default") is None, "it never had one"
    now = timezone.now()
    beats = {register(): now - timedelta(minutes=minutes) for minutes in (9, 2, 5)}
    for worker, at in beats.items():
        Worker.objects.filter(pk=worker).update(beat_at=at, gone_at=at)
    Worker.objects.filter(pk=register()).update(pool="other", gone_at=now)
    assert call_at(now, look).last_beat("default") == now - timedelta(minutes=2)
    assert call_at(now + timedelta(days=1), look).last_beat("default") is None, "longer ago than a day"
    Worker.objects.filter(pk=register(concurrency=0)).update(beat_at=now)  # it drains
    assert call_at(now, look).last_beat("default") == now


def test_the_recorder_is_late_by_what_never_rests(tenant):
    now = timezone.now()
    for task, minutes in (("minutes", 1), ("late minutes", 2), ("samples", 30), ("hours", 50)):
        Recorded.objects.create(task=task, upto=now, at=now - timedelta(minutes=minutes))
    assert call_at(now, look).server.recorder_age == pytest.approx(120.0)


def test_the_cache_is_asked_in_no_transaction(tenant, monkeypatch):
    asked = []
    monkeypatch.setattr(cache, "get", lambda key: asked.append(connection.in_atomic_block))
    look()
    assert asked == [False]


def test_messages_that_nobody_takes_up_are_seen_after_a_while(tenant, settings):
    now = timezone.now()
    patience = 3 * settings.JOBS_HAND_OVER_TIMEOUT
    for seconds, status in ((patience - 1, Status.QUEUED), (patience + 1, Status.QUEUED), (999, Status.RUNNING)):
        make_job(tenant, status, queued_at=now - timedelta(seconds=seconds))
    assert call_at(now, look).server.untaken == 1


def test_a_leading_clock_of_this_database_is_seen_and_no_other(tenant, onlooker):
    assert not look().server.clock_leads
    with psycopg.connect(**connection.get_connection_params() | {"dbname": "postgres"}) as elsewhere:
        elsewhere.execute("SELECT pg_advisory_lock(hashtext('jobs.clock'), 0)")
        assert not look().server.clock_leads, "of another deployment on the same server"
        onlooker.execute("SELECT pg_advisory_lock(hashtext('jobs.clock'), 0)")
        assert look().server.clock_leads


def test_the_oldest_transaction_is_that_of_others(tenant, onlooker):
    later = timezone.now() + timedelta(hours=1)
    assert call_at(later, look).server.oldest_transaction == 0, "of the look itself"
    with onlooker.transaction():
        onlooker.execute("SELECT 1")
        assert call_at(later, look).server.oldest_transaction == pytest.approx(3600, abs=30)


def test_the_slot_for_which_most_of_the_log_is_kept_is_told(tenant):
    with psycopg.connect(**connection.get_connection_params() | {"user": ADMIN}, autocommit=True) as admin:
        try:
            for slot in ("behind", "near"):
                admin.execute("SELECT pg_create_physical_replication_slot(%s, true)", [slot])
                admin.execute("SELECT pg_logical_emit_message(false, '', repeat('x', 100000))")
            server = look().server
            assert server.kept_for == "behind"
            assert server.kept_log > 200_000
        finally:
            admin.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
        assert (look().server.kept_for, look().server.kept_log) == ("", 0)


def test_attempts_of_the_last_minutes_are_counted_by_outcome(tenant):
    now = timezone.now().replace(second=0, microsecond=0)
    today = now.replace(hour=0, minute=0)
    partitions.ensure("job_minutes", today, today + timedelta(days=1))  # as the recorder makes it
    some = {"queue_id": 1, "source_type": "a", "run_seconds": 0, "wait_seconds": 0}
    some |= {"run_buckets": [0] * BUCKETS, "wait_buckets": [0] * BUCKETS}
    counts = {"success": 10, "error": 1, "dead": 2, "retry": 4, "crash": 8, "snooze": 16, "cancelled": 32}
    for age in (1, 11):
        for outcome, count in counts.items():
            minute = now - timedelta(minutes=age)
            JobMinute.objects.create(minute=minute, source_method="b", outcome=outcome, attempts=count, **some)
    ended = call_at(now, look).ended
    assert (ended.attempts, ended.failed, ended.died) == (73, 15, 2)


def test_connections_are_those_of_the_tightest_bound_also_for_a_role_that_may_not_see_what_they_do(tenant, onlooker):
    name = connection.settings_dict["NAME"]
    role = f'"of {name}"'
    onlooker.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT 9')
    onlooker.execute(
        f"CREATE ROLE {role}; GRANT {role} TO CURRENT_USER; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"
    )
    try:
        sql(f"SET ROLE {role}")
        server = look().server
    finally:
        connection.close()
        onlooker.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
        onlooker.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT -1')
    assert 2 <= server.connections <= 9
    assert server.max_connections == 9


def test_a_look_gives_up_when_the_database_takes_long(tenant, onlooker, monkeypatch):
    monkeypatch.setattr(looks, "TIMEOUT", 0.2)
    with onlooker.transaction():
        onlooker.execute("LOCK TABLE queues IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(OperationalError, match="statement timeout"):
            look()


def refuse() -> None:
    raise OperationalError("no route to db\nIs it running?")


class TestTheCommand:
    def test_fails_for_what_is_critical_and_says_what_to_do(self, tenant, monkeypatch, capsys):
        with pytest.raises(CommandError, match="1 critical, 0 warnings"):
            call_command("check_health")
        assert "critical: no_clock: No clock leads" in capsys.readouterr().out
        monkeypatch.setattr(check_health, "look", refuse)
        with pytest.raises(CommandError, match="1 critical"):
            call_command("check_health")
        assert "critical: no_database: The database does not answer: no route to db." in capsys.readouterr().out

    def test_passes_with_a_warning_unless_it_is_strict(self, tenant, onlooker, register, capsys):
        onlooker.execute("SELECT pg_advisory_lock(hashtext('jobs.clock'), 0)")
        Worker.objects.filter(pk=register()).update(beat_at=timezone.now() - timedelta(minutes=1))
        call_command("check_health", "--json")
        assert '"code": "worker_silent"' in capsys.readouterr().out
        with pytest.raises(CommandError, match="0 critical, 1 warning\\."):
            call_command("check_health", "--strict")

    def test_a_condition_that_harms_no_job_is_printed_and_the_command_succeeds(
        self, tenant, onlooker, monkeypatch, capsys
    ):
        onlooker.execute("SELECT pg_advisory_lock(hashtext('jobs.clock'), 0)")
        monkeypatch.setattr(looks.PredictionsLook, "off", True)
        call_command("check_health", "--strict")
        told = capsys.readouterr().out
        assert told.startswith("info: predictions_off: ")
        assert told.endswith("\nHealthy.\n")

    def test_says_that_all_is_well(self, tenant, onlooker, capsys):
        onlooker.execute("SELECT pg_advisory_lock(hashtext('jobs.clock'), 0)")
        call_command("check_health", "--strict")
        assert capsys.readouterr().out == "Healthy.\n"


def test_every_condition_is_named_once():
    assert len({rule.code for rule in RULES}) == len(RULES)
