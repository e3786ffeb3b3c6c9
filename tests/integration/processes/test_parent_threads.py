"""The threads of a worker's parent: none holds up another, and none dies or stands still unnoticed."""

import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from unittest.mock import Mock

import psycopg
import pytest
from django.db import OperationalError, connection

from jobs import signals, store
from jobs.engine.door import dispatch
from jobs.engine.process import runtime
from jobs.engine.upkeep import recover
from jobs.engine.upkeep.recover import Death
from jobs.engine.verbs.drain import drain
from jobs.lifecycle import Status
from jobs.models import Job, Worker
from jobs.store import Claimed
from jobs.worker.children import kills, reports
from jobs.worker.children.reports import Reports
from jobs.worker.threads import watchdog
from jobs.worker.threads.announcer import Announcer
from jobs.worker.threads.heartbeat import Heartbeat
from jobs.worker.threads.sender import MAX_LEFT_THREADS, MAX_SEND_SECONDS, Sender
from jobs.worker.threads.wakeup import WakeupPipe
from jobs.worker.threads.watchdog import Progress, Watchdog
from tests.factories import TenantFactory, make_job
from tests.sql import sql
from tests.waiting import wait_until


@pytest.fixture
def thread() -> Iterator[Callable[..., threading.Thread]]:
    """Run something in a thread that is to end with the test."""
    threads: list[threading.Thread] = []

    def start(run: Callable[..., object], *args: object) -> threading.Thread:
        def closing() -> None:
            try:
                run(*args)
            finally:
                connection.close()

        threads.append(threading.Thread(target=closing))
        threads[-1].start()
        return threads[-1]

    yield start
    for one in threads:
        one.join(30)
        assert not one.is_alive()


class TestTheSender:
    @pytest.fixture
    def broker(self) -> Iterator[threading.Event]:
        """Set while the broker answers."""
        yield (broker := threading.Event())
        broker.set()

    @pytest.fixture
    def sending(self, thread, broker):
        """A sender, and what it has begun to send; each message waits for the broker."""
        begun: list[int] = []

        def carry(claimed) -> None:
            begun.extend(job.id for job in claimed)
            assert broker.wait(30)

        sender = Sender(carry)
        thread(sender.run, Progress())
        yield sender, begun
        broker.set()
        sender.stop()

    def test_a_broker_that_stands_still_holds_up_nobody_who_hands_over(self, sending, broker):
        sender, begun = sending
        sender.hand_over([Claimed(1, 1, "default")])
        wait_until(lambda: begun == [1], "it sends")
        sender.hand_over([Claimed(2, 1, "default")])
        sender.hand_over([Claimed(3, 1, "default")])
        assert begun == [1]
        broker.set()
        wait_until(lambda: begun == [1, 2, 3], "the rest is sent")

    def test_a_message_sent_again_while_it_waits_is_sent_once(self, sending, broker):
        sender, begun = sending
        sender.hand_over([Claimed(1, 1, "default")])
        wait_until(lambda: begun == [1], "it sends")
        for _ in range(100):
            sender.hand_over([Claimed(2, 1, "default"), Claimed(2, 2, "default")])
        broker.set()
        sender.hand_over([Claimed(3, 1, "default")])
        wait_until(lambda: begun[-1] == 3, "all is sent")
        assert begun == [1, 2, 2, 3]

    @pytest.fixture
    def now(self, monkeypatch) -> list[float]:
        """The moment that the sender's clock shows."""
        now = [0.0]
        monkeypatch.setattr("jobs.worker.threads.sender.monotonic", lambda: now[0])
        return now

    @pytest.fixture
    def threads_of(self, thread, broker, monkeypatch):
        """A sender that runs, and the threads that it has sent in; in the first ones no message is answered."""
        used: list[threading.Thread] = []

        def start(unanswered: int) -> tuple[Sender, list[threading.Thread]]:
            def carry(claimed) -> None:
                used.append(threading.current_thread())
                assert len(used) > unanswered or broker.wait(30)

            started.append(Sender(carry))
            thread(started[0].run, Progress())
            return started[0], used

        started: list[Sender] = []
        yield start
        broker.set()
        started[0].stop()

    def test_after_a_while_another_thread_goes_on(self, threads_of, now, broker, caplog):
        sender, used = threads_of(unanswered=1)
        sender.hand_over([Claimed(1, 1, "default")])
        wait_until(lambda: len(used) == 1, "it sends")
        now[0] = MAX_SEND_SECONDS - 1
        sender.hand_over([Claimed(2, 1, "default")])
        assert not caplog.records
        now[0] = MAX_SEND_SECONDS
        for count in (2, 3):
            sender.hand_over([Claimed(count, 1, "default")])
            wait_until(lambda count=count: len(used) == count, "another one sends")
        assert [record.getMessage() for record in caplog.records] == ["broker does not answer seconds=30"]
        assert used[0] is not used[1] is used[2]
        broker.set()
        wait_until(lambda: not sender._left, "the first one is answered")
        assert used[0].is_alive(), "the watchdog would end the worker"

    def test_while_the_broker_is_away_for_long_no_more_than_some_threads_wait(self, threads_of, now, broker):
        sender, used = threads_of(unanswered=100)
        for job in range(3 + MAX_LEFT_THREADS):
            sender.hand_over([Claimed(job, 1, "default")])
            wait_until(lambda job=job: len(used) == min(job, MAX_LEFT_THREADS) + 1, "it sends")
            now[0] += MAX_SEND_SECONDS
        broker.set()
        wait_until(lambda: sum(one.is_alive() for one in set(used)) == 2, "one sends, and the first one waits")
        assert len(set(used)) == MAX_LEFT_THREADS + 1

    def test_stopped_it_sends_what_it_has(self, thread):
        sent: list[Claimed] = []
        sender = Sender(sent.extend)
        sender.hand_over([Claimed(1, 1, "default")])
        sender.stop()
        thread(sender.run, Progress()).join(30)
        assert [job.id for job in sent] == [1]


@pytest.mark.django_db(transaction=True)
class TestTheAnnouncer:
    def test_a_receiver_that_takes_long_or_exits_holds_up_nobody_who_buries_a_job(self, thread, settings):
        settings.JOBS_MAX_CRASHES = 1
        heard, go_on = [], threading.Event()

        def slowly(sender: object, job_id: int, attempt: int, **_: object) -> None:
            assert go_on.wait(30)
            heard.append((job_id, attempt))
            sys.exit(1)

        announcer = Announcer()
        thread(announcer.run, Progress())
        signals.job_died.connect(slowly)
        runtime.change(announcer=announcer.announce)
        try:
            jobs = [make_job(TenantFactory(), Status.RUNNING) for _ in range(2)]
            for job in jobs:
                assert recover.take_back(job.pk, 1, store.Failure("ProcessDied", "killed"))
            assert heard == []
            go_on.set()
            announcer.stop()
            wait_until(lambda: heard == [(job.pk, 1) for job in jobs], "both are announced, each once")
        finally:
            go_on.set()
            runtime.change(announcer=None)
            signals.job_died.disconnect(slowly)


class TestTheWakeup:
    def test_a_wakeup_works_once_for_many_requests(self, thread):
        wakeup, heard = WakeupPipe(), []
        for _ in range(100_000):  # more than a pipe holds
            wakeup.request()
        wakeup.wait()
        wakeup.request()
        wakeup.wait()
        listening = thread(lambda: (wakeup.wait(), heard.append(True)))
        assert listening.is_alive()
        assert not heard
        wakeup.request()
        wait_until(lambda: heard, "it is heard")

    def test_a_forked_process_requests_it_of_its_parent(self):
        wakeup = WakeupPipe()
        child = os.fork()
        if child == 0:
            wakeup.request()
            os._exit(0)
        wakeup.wait()
        os.waitpid(child, 0)

    def test_a_commit_requests_a_dispatch_and_makes_none(self, monkeypatch, transactional_db):
        rung, made = [], []
        monkeypatch.setattr(dispatch, "dispatch", lambda: made.append(True))
        runtime.change(relay=lambda: rung.append(True))
        try:
            dispatch.on_commit()
            dispatch.request()
        finally:
            runtime.change(relay=None)
        assert (len(rung), made) == (2, [])


class TestTheWatchdog:
    @pytest.fixture(autouse=True)
    def often(self, monkeypatch) -> None:
        monkeypatch.setattr(watchdog, "LOOK_INTERVAL", 0.02)

    @pytest.fixture
    def stop(self) -> Iterator[threading.Event]:
        yield (stop := threading.Event())
        stop.set()

    @pytest.fixture
    def aborted(self) -> list[str]:
        return []

    @pytest.fixture
    def dog(self, thread, stop, aborted, transactional_db) -> Watchdog:
        return Watchdog(stop, aborted.append)

    def test_a_thread_that_dies_ends_the_worker(self, thread, dog, aborted, monkeypatch):
        monkeypatch.setattr(threading, "excepthook", lambda *_: None)
        dog.start("clock", lambda progress: 1 / 0)
        thread(dog.run)
        wait_until(lambda: aborted == ["thread clock died"], "it is noticed")

    def test_a_thread_that_ends_without_a_stop_aborts_the_process(self, thread, dog, aborted):
        dog.start("beat", lambda progress: None)
        thread(dog.run)
        wait_until(lambda: aborted == ["thread beat died"], "it is noticed")

    def test_a_thread_that_makes_no_progress_aborts_the_process(self, thread, dog, aborted, stop):
        dog.start("limits", lambda progress: stop.wait(30), standstill=0.1)
        thread(dog.run)
        wait_until(lambda: aborted == ["thread limits stands still"], "it is noticed")

    def test_a_thread_that_goes_on_or_may_stand_still_lives(self, thread, dog, aborted, stop):
        def goes_on(progress: Progress) -> None:
            while not stop.wait(0.02):
                progress.note()

        dog.start("beat", goes_on, standstill=0.2)
        dog.start("sender", lambda progress: stop.wait(30))
        witness = Progress()
        dog.start("witness", lambda progress: (stop.wait(1), stop.set(), witness.note()))
        thread(dog.run)
        wait_until(lambda: witness.rounds, "a second passes")
        assert aborted == []

    def test_to_wait_for_the_database_is_not_to_stand_still(self, thread, dog, aborted, stop, monkeypatch):
        done, connect = [], psycopg.connect

        def unresolved(**parameters: object) -> psycopg.Connection:
            time.sleep(1)  # for a resolver that does not answer, `connect_timeout` does not count
            return connect(**parameters)

        def waits(progress: Progress) -> None:
            sql("SELECT pg_sleep(1)")
            done.append(list(aborted))
            stop.wait(30)

        monkeypatch.setattr(psycopg, "connect", unresolved)
        dog.start("beat", waits, standstill=0.2)
        thread(dog.run)
        wait_until(lambda: done, "the statement is through")
        assert done == [[]]
        wait_until(lambda: aborted == ["thread beat stands still"], "after that it stands still")


@pytest.mark.django_db(transaction=True)
class TestPresence:
    @pytest.fixture
    def stop(self) -> threading.Event:
        return threading.Event()

    @pytest.fixture
    def called(self) -> list[str]:
        return []

    @pytest.fixture
    def one(self, thread, stop, called, settings, tmp_path) -> Iterator[Heartbeat]:
        settings.JOBS_BEAT_FILE = str(tmp_path / "beat")
        one = Heartbeat(
            uuid.uuid4(),
            "one",
            "default",
            stop,
            seats=2,
            kind="light",
            threads=True,
            capacity=lambda: 4,
            database_wait=lambda: 0.5,
            cut_off=lambda: False,
            registered=lambda: called.append("registered"),
            drain=lambda: called.append("drain"),
            gone=lambda: (called.append("gone"), stop.set()),
        )
        yield one
        stop.set()
        one.beat_now()

    @pytest.fixture
    def present(self, thread, one, called, settings):
        """A presence in a thread, and what it has called."""
        settings.JOBS_BEAT_INTERVAL = 0.1
        thread(one.run, Progress())
        return one, called

    def test_a_worker_registers_once_beats_says_why_it_cannot_and_leaves(
        self, present, stop, monkeypatch, caplog, tmp_path
    ):
        beat = tmp_path / "beat"
        one, called = present
        wait_until(Worker.objects.exists, "it registers")
        first = Worker.objects.get()
        assert (first.name, first.pool, first.beat_interval) == ("one", "default", 0.1)
        assert (first.concurrency, first.seats, first.kind, first.database_wait) == (4, 2, "light", 0.5)
        assert first.threads
        wait_until(lambda: Worker.objects.get().beat_at > first.beat_at, "it beats")
        os.utime(beat, (0, 0))
        wait_until(lambda: beat.stat().st_mtime > 0, "its file is new again")
        with monkeypatch.context() as away:
            away.setattr(store, "beat", Mock(side_effect=OperationalError("no route to db\nIs it running?")))
            wait_until(
                lambda: "thread without database thread=worker error=no route to db" in caplog.messages, "it says why"
            )
            os.utime(beat, (0, 0))
            tries = store.beat.call_count
            wait_until(lambda: store.beat.call_count > tries + 1, "it tries again")
            assert beat.stat().st_mtime == 0, "its file gets old"
        stop.set()
        one.beat_now()
        wait_until(lambda: Worker.objects.get().gone_at, "it leaves")
        assert called == ["registered"]
        assert not beat.exists()

    def test_told_to_stop_when_a_beat_begins_it_leaves_after_it_and_not_after_the_next(
        self, thread, stop, one, settings, monkeypatch
    ):
        settings.JOBS_BEAT_INTERVAL = 3600.0
        progress = Progress()
        monkeypatch.setattr(progress, "note", lambda: (stop.set(), one.beat_now()))
        thread(one.run, progress)
        wait_until(lambda: Worker.objects.filter(gone_at__isnull=False).exists(), "it leaves")

    def test_asked_to_drain_it_hears_it_once_and_beats_on(self, present):
        _, called = present
        wait_until(Worker.objects.exists, "it registers")
        assert drain(Worker.objects.get().pk)
        wait_until(lambda: "drain" in called, "it hears of it")
        before = Worker.objects.get().beat_at
        wait_until(lambda: Worker.objects.get().beat_at > before, "it beats on")
        assert (called, Worker.objects.get().concurrency) == (["registered", "drain"], 0)

    def test_declared_gone_it_says_so(self, present):
        _, called = present
        wait_until(Worker.objects.exists, "it registers")
        Worker.objects.update(gone_at="2020-01-01T00:00Z")
        wait_until(lambda: "gone" in called, "it hears of it")

    def test_a_locked_row_costs_a_beat_and_no_more(self, present, onlooker):
        wait_until(Worker.objects.exists, "it registers")
        with onlooker.transaction():
            onlooker.execute("SELECT FROM workers FOR UPDATE")
            begun = time.monotonic()
            session = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'jobs:%%:beat'"
            waiting = f"{session} AND wait_event_type = 'Lock'"
            wait_until(lambda: onlooker.execute(waiting).fetchone()[0] == 1, "it waits for its row")
            wait_until(lambda: onlooker.execute(waiting).fetchone()[0] == 0, "it gives up")
            assert time.monotonic() - begun < 10
        before = Worker.objects.get().beat_at
        wait_until(lambda: Worker.objects.get().beat_at > before, "it beats again")


@pytest.mark.django_db(transaction=True)
class TestReports:
    @pytest.fixture
    def worker(self, register) -> uuid.UUID:
        return register()

    @pytest.fixture
    def reporting(self, thread, worker, monkeypatch) -> Iterator[None]:
        monkeypatch.setattr(reports, "RETRY_SECONDS", 0.05)
        stop = threading.Event()
        thread(Reports(worker, stop).run, Progress())
        yield
        stop.set()

    def ran(self, worker, pid: int) -> Job:
        return make_job(TenantFactory(), Status.RUNNING, worker=worker, worker_pid=pid)

    def told(self, job: Job) -> None:
        kills.deaths.put(Death(job.worker_pid, job.pk, 1, "signal 9"))

    def taken_back(self, job: Job) -> bool:
        return Job.objects.filter(pk=job.pk, status="scheduled", crashes=1).exists()

    @pytest.mark.usefixtures("reporting")
    def test_a_locked_row_holds_up_no_other_report_and_is_told_again(self, worker, onlooker):
        locked, other = self.ran(worker, 1), self.ran(worker, 2)
        with onlooker.transaction():
            onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [locked.pk])
            self.told(locked)
            self.told(other)
            wait_until(lambda: self.taken_back(other), "the other is taken back", limit=2)
            assert not self.taken_back(locked)
        wait_until(lambda: self.taken_back(locked), "and then this one")

    def test_each_report_is_progress_since_each_may_ask_a_slow_policy(self, worker, thread, monkeypatch):
        progress, stop, rounds = Progress(), threading.Event(), []
        monkeypatch.setattr(recover, "process_ended", lambda *_: rounds.append(progress.rounds) or True)
        for pid in (1, 2, 3):
            kills.deaths.put(Death(pid, 1, 1, "signal 9"))
        thread(Reports(worker, stop).run, progress)
        wait_until(lambda: len(rounds) == 3, "all are told")
        stop.set()
        assert len(set(rounds)) == 3

    def test_a_database_that_is_away_is_told_when_it_is_back(self, worker, request, monkeypatch):
        process_ended, refused = recover.process_ended, []

        def away_at_first(*report: object) -> bool:
            if len(refused) < 3:
                refused.append(True)
                raise OperationalError
            return process_ended(*report)

        monkeypatch.setattr(recover, "process_ended", away_at_first)
        request.getfixturevalue("reporting")
        job = self.ran(worker, 1)
        self.told(job)
        wait_until(lambda: self.taken_back(job), "it is taken back")
