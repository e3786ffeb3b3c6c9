"""While something is broken, others feel nothing: in each test a bystander's jobs go through within two seconds."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from django.utils import timezone

from embedded import fleet
from embedded.process import Process
from jobs.engine.process import runtime
from jobs.engine.verbs.cancel import cancel
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job, Pool, Worker
from jobs.store import EVERY_TENANT, Claimed, results
from jobs.worker import message
from tests.acceptance.following import SOON, bystanders_go_through, ended, held_lock, release_lock, running
from tests.chaos.freezing import NUMBER, ROW, Held, backends, children, has_ended, kill
from tests.factories import TenantFactory, ThingFactory, make_job
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long(
        "what a death or a lock does to bystanders; tests/integration/processes has the locks of the clock"
    ),
]


def is_untouched(job_id: int) -> None:
    """It is still in its first attempt, and nobody counted a crash."""
    job = Job.objects.get(pk=job_id)
    assert (job.status, job.attempt, job.crashes) == ("running", 1, 0)


@contextmanager
def beside_an_innocent(start_worker, thing) -> Iterator[Process]:
    """A worker that runs another job, too: whatever happens here, that one stays as it is, and so does the worker."""
    worker = start_worker(concurrency=4)
    with held_lock(7):
        innocent = thing.async_.wait_for_lock(7)
        running(innocent)
        yield worker
        is_untouched(innocent)
        assert worker.alive


def drains(worker) -> None:
    os.kill(worker.pid, signal.SIGTERM)
    wait_until(lambda: Worker.objects.get(pid=worker.pid).concurrency == 0, "it drains")


def stand_still(seconds: float) -> None:
    """The broker answers nobody for so long, from now on, where it is Valkey or Redis."""
    with message.run_attempt.app.connection_for_write() as broker:
        if hasattr(broker.default_channel, "client"):
            broker.default_channel.client.execute_command("CLIENT PAUSE", int(seconds * 1000))


class TestALockedRow:
    """Of a machine that was cut off with a transaction open, or of a web request that takes long."""

    def test_a_locked_job_of_a_gone_worker_delays_no_other(self, start_worker, thing):
        doomed = start_worker(concurrency=1)
        with Held(NUMBER, 7) as body:
            job_id = thing.async_.wait_for_lock(7)
            running(job_id)
            start_worker(concurrency=2)
            with Held(ROW, job_id):
                kill(doomed.pid)
                wait_until(lambda: Worker.objects.get(pid=doomed.pid).gone_at, "it is declared gone")
                bystanders_go_through()
                assert Job.objects.get(pk=job_id).status == "running"
            wait_until(lambda: Run.objects.filter(job_id=job_id).count() == 2, "its job runs again")
            body.release()
        assert ended(job_id).status == "success"

    def test_a_locked_job_whose_message_was_lost_delays_no_other(self, start_worker, thing, environ, register):
        environ["JOBS_HAND_OVER_TIMEOUT"] = "0.2"
        register(concurrency=1)
        runtime.change(carrier=lambda claimed: None)
        job_id = thing.async_.echo()
        assert Job.objects.get(pk=job_id).status == "queued"
        runtime.change(carrier=message.hand_over)
        with Held(ROW, job_id):
            start_worker(concurrency=3)
            bystanders_go_through()
        assert ended(job_id).status == "success"

    def test_a_row_that_a_dead_process_locked_is_free_at_once(self, start_worker, thing):
        with beside_an_innocent(start_worker, thing):
            job_id = thing.async_.hold_row(3600)
            kill(running(job_id))
            wait_until(lambda: Job.objects.get(pk=job_id).crashes, "it is taken back", limit=5)
            assert not backends("query LIKE 'SELECT pg_sleep%%' AND state = 'active'")
            bystanders_go_through()
        assert (ended(job_id).status, ended(job_id).attempt) == ("success", 2)

    def test_a_locked_job_of_a_dead_process_delays_no_other(self, start_worker, thing):
        with beside_an_innocent(start_worker, thing) as worker:
            job_id = thing.async_.spin()
            child = running(job_id)
            with Held(ROW, job_id):
                kill(child)
                wait_until(lambda: len(children(worker.pid)) == 4, "there is another process")
                bystanders_go_through()
                assert Job.objects.get(pk=job_id).status == "running"
            wait_until(lambda: Job.objects.get(pk=job_id).crashes == 1, "it is taken back")
            cancel(job_id, tenant_id=EVERY_TENANT)


class TestALockedTable:
    """Of what ended, or of what was counted: the clock's own threads meet it, and nobody else."""

    @pytest.mark.parametrize("tables", ["job_history", "recorded, job_minutes, tenant_hours, totals, samples"])
    def test_locked_tables_of_the_past_delay_no_job(self, tables, start_worker, onlooker):
        make_job(TenantFactory(), Status.SUCCESS, end_time=timezone.now() - timedelta(days=9))  # to be archived
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = ANY(%s::regclass[])"
        with onlooker.transaction():
            onlooker.execute(f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE")
            start_worker(concurrency=2)
            wait_until(lambda: onlooker.execute(waiting, [tables.split(", ")]).fetchone() > (0,), "the clock meets it")
            for _ in range(3):
                bystanders_go_through()


class TestADrainingWorker:
    def test_uses_up_nobody_elses_place(self, start_worker, thing):
        old = start_worker(concurrency=2)
        other = ThingFactory(tenant=TenantFactory(queue__num_slots=4))
        with held_lock(7), held_lock(8):
            for job_id in [thing.async_.wait_for_lock(7), thing.async_.wait_for_lock(8)]:
                running(job_id)
            start_worker(concurrency=2)
            drains(old)
            with Held(NUMBER, 9):
                for job_id in [other.async_.wait_for_lock(9), other.async_(dedup=False).wait_for_lock(9)]:
                    running(job_id)  # both at once, beside those of the old one
            bystanders_go_through(5)
            release_lock(7)
            release_lock(8)

    def test_ends_what_does_not_stop_when_it_is_asked_to(self, start_worker, environ, thing):
        environ["JOBS_CANCEL_GRACE"] = "0.5"
        old = start_worker(concurrency=1)
        job_id = thing.async_.spin_again(stubborn=True)
        child = running(job_id)
        drains(old)
        start_worker(concurrency=2)
        cancel(job_id, tenant_id=EVERY_TENANT)
        bystanders_go_through()
        job = ended(job_id)
        assert (job.status, job.attempt) == ("cancelled", 1)
        assert FailedAttempt.objects.get(job=job).error == "did not stop within 0.5 s and was killed"
        assert has_ended(child)
        old.wait(30)


def test_a_doubled_message_takes_no_cancel_away(start_worker, environ, thing):
    """Celery knew the process by the name of the message, and forgot it with the double."""
    environ["JOBS_CANCEL_GRACE"] = "0.5"
    start_worker(concurrency=2)
    job_id = thing.async_.spin_again(stubborn=True)
    running(job_id)
    message.hand_over([Claimed(job_id, 1, "default")])
    assert ended(thing.async_.echo()).status == "success"  # which came behind the double
    cancel(job_id, tenant_id=EVERY_TENANT)
    assert ended(job_id).status == "cancelled"


def test_a_lost_message_is_sent_again_although_others_have_more_to_do_than_can_be_done(start_worker, thing, register):
    register(concurrency=1)
    runtime.change(carrier=lambda claimed: None)
    lost = thing.async_.echo("lost")
    assert Job.objects.get(pk=lost).status == "queued"
    runtime.change(carrier=message.hand_over)
    start_worker(concurrency=1)
    others = ThingFactory(tenant=TenantFactory(queue__num_slots=50))
    others.async_.echo.many([{"value": n} for n in range(50)])
    assert ended(lost).status == "success"
    assert ended(thing.async_.again()).status == "success"


class TestStrangersCode:
    def test_a_receiver_that_takes_long_holds_up_nobody(self, start_worker, thing, environ):
        environ |= {"SAMPLE_SLOW_RECEIVER": "4", "JOBS_MAX_CRASHES": "1"}
        with beside_an_innocent(start_worker, thing):
            assert ended(thing.async_.kill_first()).status == "dead"
            bystanders_go_through()
            assert ended(thing.async_(dedup=False).kill_first()).status == "dead"  # while the receiver is at the first
            bystanders_go_through()

    def test_a_policy_that_takes_long_after_a_hard_limit_holds_up_nobody(self, start_worker, thing, environ):
        environ["JOBS_TIMEOUT_GRACE"] = "0.2"
        with beside_an_innocent(start_worker, thing):
            job_id = thing.async_(timeout=1.5).spin_slowly_again()  # time to say that it runs, on a busy machine
            wait_until(lambda: has_ended(running(job_id)), "it is killed")
            bystanders_go_through()
            job = ended(job_id)
            assert (job.status, job.retries, job.crashes) == ("dead", 1, 0)

    def test_a_policy_that_exits_after_a_hard_limit_ends_its_job_alone(self, start_worker, thing, environ):
        environ["JOBS_TIMEOUT_GRACE"] = "0.2"
        with beside_an_innocent(start_worker, thing):
            job = ended(thing.async_(timeout=1.5).spin_and_leave())
            assert (job.status, job.last_error, job.crashes) == ("dead", "SystemExit: 3", 0)
            bystanders_go_through()

    def test_a_lazy_value_that_fails_and_a_generator_that_hangs_end_their_jobs_alone(self, start_worker, thing):
        worker = start_worker(concurrency=2)
        missing = "DoesNotExist: Run matching query does not exist."
        ends = {
            thing.async_.lazy(): missing,
            thing.async_(timeout=4).hang_afterwards(): "TimeoutError: timed out after 4 s",
        }
        for job_id, text in ends.items():
            job = ended(job_id)
            assert (job.status, job.last_error, job.attempt, job.crashes) == ("error", text, 1, 0)
        assert worker.alive


class TestLeftoversOfABody:
    def test_its_subprocess_ends_with_it(self, start_worker, thing, environ, tmp_path: Path):
        environ["JOBS_CANCEL_GRACE"] = "0.5"
        start_worker(concurrency=3)
        job_id = thing.async_.start_another(str(tmp_path / "pid"))
        wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "it has started it")
        below = psutil.Process(int((tmp_path / "pid").read_text()))
        cancel(job_id, tenant_id=EVERY_TENANT)
        assert ended(job_id).status == "cancelled"
        wait_until(lambda: has_ended(below.pid), "its subprocess ends")
        bystanders_go_through()

    def test_a_body_may_start_processes_of_any_kind(self, start_worker, thing):
        start_worker(concurrency=1)
        done = ended(thing.async_.share_out())
        pools = {"fork": [1, 2], "spawn": [1, 2], "forkserver": [1, 2], "rows": [1, 1]}
        assert done.status == "success", done.last_error
        assert results.load(done).value == {"terminated": [-signal.SIGTERM] * 2, **pools}
        assert done.progress_note == "shared out"

    def test_its_open_transaction_ends_its_process_which_loses_no_message_and_is_replaced_at_once(
        self, start_worker, environ, tmp_path: Path
    ):
        """It leaves the next dispatch to its parent: what it claimed itself waited until its messages counted as lost,
        where the broker stood still for longer than an end may take."""
        environ |= {"JOBS_HAND_OVER_TIMEOUT": "120", "CHAOS_EVIDENCE": str(tmp_path / "evidence")}
        (tmp_path / "evidence").touch()
        for _ in range(2):
            start_worker(concurrency=2)
        thing = ThingFactory(tenant=TenantFactory(queue__num_slots=50))
        for turn in range(3):
            bodies = [{"number": n, "kind": "a transaction in a generator"} for n in range(turn * 8, turn * 8 + 8)]
            left = thing.async_(dedup=False).litter.many(bodies)
            if turn == 1:
                stand_still(3.0)
            bystanders_go_through(4 * SOON)  # eight processes end meanwhile, of four
            for job_id in left:
                assert (ended(job_id).status, ended(job_id).attempt) == ("success", 1)
            bystanders_go_through()

    def test_its_statement_ends_with_it(self, start_worker, thing, environ):
        environ["JOBS_CANCEL_GRACE"] = "0.5"
        start_worker(concurrency=3)
        job_id = thing.async_.sleep_in_database()
        running(job_id)
        cancel(job_id, tenant_id=EVERY_TENANT)
        assert ended(job_id).status == "cancelled"
        assert not backends("query LIKE 'SELECT pg_sleep%%' AND state = 'active'")
        bystanders_go_through()


class TestTheWatchdog:
    @pytest.mark.parametrize(("how", "thread"), [("dies", "limits"), ("stands still", "limits"), ("dies", "feeder")])
    def test_a_thread_that_fails_ends_the_worker_and_another_goes_on(
        self, *, how, thread, start_worker, thing, environ, tmp_path
    ):
        if thread == "feeder":
            Pool.objects.create(name="other", kind="light", seats=2)
        start_worker(concurrency=3)
        environ["SAMPLE_BREAKS"] = how
        broken = start_worker(pool="other", concurrency=1)
        pool = children(broken.pid)
        assert broken.wait(40) == 75
        wait_until(lambda: all(map(has_ended, pool)), "its processes end with it")
        log = (tmp_path / f"other2-{os.getpid()}.log").read_text()
        assert f"worker ends itself because=thread {thread} {'died' if how == 'dies' else how}" in log
        bystanders_go_through()


REFUSED = {
    "-P threads": "prefork",
    "-c 1025": "at most 1024 processes",
    "--autoscale 4,1": "does not grow by itself",
    "--time-limit 2": "no --time-limit: each job has its own limit, @job(timeout=...)",
    "--soft-time-limit 2": "no --soft-time-limit: each job",
}


@pytest.mark.parametrize("options", REFUSED)
def test_a_worker_that_could_not_do_what_it_is_told_refuses_to_start(options, environ):
    command = fleet.worker("default", 1, "refused", environ)
    ended = subprocess.run(
        [*command.argv, *options.split()], env=command.env, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode != 0
    assert REFUSED[options] in ended.stderr
    assert not Worker.objects.exists()
