"""The memory ceiling: a process above it is killed, whatever its code does, and no other."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import psutil
import pytest

from jobs import memory
from jobs.attempt_request import AttemptRequest
from jobs.memory import MIB, MemoryWatch, Watched
from jobs.presence import attempts_ended
from tests.waiting import wait_until

CEILING = 60  # MiB, well above a bare Python


@pytest.fixture
def start() -> Iterator:
    """Start a process that holds so many MiB, and wait until it does."""
    started: list[subprocess.Popen] = []

    def start(mib: int) -> int:
        code = f"held = b'x' * ({mib} * {MIB}); print('there', flush=True); import time; time.sleep(600)"
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout.readline() == b"there\n"
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def watch(monkeypatch) -> Iterator[MemoryWatch]:
    """One that runs in a thread and looks often."""
    monkeypatch.setattr(memory, "LOOK_EVERY", 0.01)
    watch, stop = MemoryWatch(), threading.Event()
    thread = threading.Thread(target=watch.run, args=(stop,))
    thread.start()
    yield watch
    stop.set()
    thread.join()


def is_gone(pid: int) -> bool:
    return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_process_above_its_ceiling_is_killed_and_one_below_is_not(start, watch):
    small, large = start(1), start(2 * CEILING)
    watch.watch(Watched(1, 1, small, CEILING))
    watch.watch(Watched(2, 1, large, CEILING))
    wait_until(lambda: is_gone(large), "the large one is killed")
    assert not is_gone(small)
    assert watch.forget(1, 1, small) is None
    reason = watch.forget(2, 1, large)
    assert reason is not None
    assert reason.endswith(f"MiB of memory; {CEILING} MiB are allowed")
    assert int(reason.split()[1]) > CEILING


def test_the_reason_is_told_once_and_only_of_that_attempt(start, watch):
    large = start(2 * CEILING)
    watch.watch(Watched(2, 7, large, CEILING))
    wait_until(lambda: is_gone(large), "it is killed")
    assert watch.forget(2, 6, large) is None
    assert watch.forget(2, 7, large) is not None
    assert watch.forget(2, 7, large) is None


def test_an_attempt_that_has_ended_lets_its_process_grow(start, watch):
    large, witness = start(2 * CEILING), start(2 * CEILING)
    watch.watch(Watched(1, 1, large, 100 * CEILING))
    watch.forget(1, 1, large)
    watch.watch(Watched(3, 1, witness, CEILING))
    wait_until(lambda: is_gone(witness), "the watch has looked")
    assert not is_gone(large)


def test_the_next_attempt_of_a_process_has_a_ceiling_of_its_own(start, watch):
    pid, witness = start(2 * CEILING), start(2 * CEILING)
    watch.watch(Watched(1, 1, pid, 100 * CEILING))
    watch.watch(Watched(2, 1, pid, 50 * CEILING))
    watch.forget(1, 1, pid)  # told late: it takes nothing from the one that is there now
    watch.watch(Watched(3, 1, witness, CEILING))
    wait_until(lambda: is_gone(witness), "the watch has looked")
    assert not is_gone(pid)
    watch.watch(Watched(2, 1, pid, CEILING))
    wait_until(lambda: is_gone(pid), "it is killed")


def test_a_process_that_is_gone_harms_nobody(start, watch):
    gone, large = start(1), start(2 * CEILING)
    psutil.Process(gone).send_signal(signal.SIGKILL)
    wait_until(lambda: is_gone(gone), "it is gone")
    watch.watch(Watched(1, 1, gone, CEILING))
    watch.watch(Watched(2, 1, 2**22 + 1, CEILING))  # no pid of Linux is so large
    watch.watch(Watched(3, 1, large, CEILING))
    wait_until(lambda: is_gone(large), "the others are watched")


class TestTheAttempt:
    """What the worker's parent process makes of it; Celery's own part of it is left out."""

    @pytest.fixture
    def request_of(self, monkeypatch):
        from celery.worker.request import Request

        for name in ("on_success", "on_failure"):
            monkeypatch.setattr(Request, name, lambda self, *_, **__: None)
        monkeypatch.setattr(Request, "on_accepted", lambda self, pid, _: setattr(self, "worker_pid", pid))
        monkeypatch.setattr(memory, "watch", MemoryWatch())

        def request_of(job_id: int, ceiling: int | None) -> AttemptRequest:
            request = object.__new__(AttemptRequest)
            request._args = (job_id, 1, 5.0, ceiling)
            return request

        return request_of

    @pytest.mark.parametrize(
        ("own", "default", "expected"), [(300, 0, 300), (300, 200, 300), (None, 200, 200), (None, 0, None)]
    )
    def test_the_jobs_own_ceiling_goes_before_the_setting_and_0_is_none(
        self, own, default, expected, request_of, settings
    ):
        settings.JOBS_DEFAULT_MEMORY = default
        request_of(1, own).on_accepted("4711", 0.0)
        watched = memory.watch._watched.get(4711)
        assert (watched and watched.ceiling) == expected

    def test_an_attempt_that_succeeds_is_watched_no_more(self, request_of):
        request = request_of(1, 300)
        request.on_accepted("4711", 0.0)
        request.on_success((False, None, 0.1))
        assert memory.watch._watched == {}

    def test_one_killed_for_its_memory_is_told_as_such_and_any_other_as_a_death(self, request_of, start):
        from billiard.einfo import ExceptionInfo
        from billiard.exceptions import WorkerLostError

        requests = [request_of(1, CEILING), request_of(2, CEILING)]
        pids = [start(2 * CEILING), start(1)]
        for request, pid in zip(requests, pids, strict=True):
            request.on_accepted(str(pid), 0.0)
        for watched in list(memory.watch._watched.values()):
            memory.watch._look_at(watched)
        try:
            raise WorkerLostError("signal 9 (SIGKILL)")
        except WorkerLostError:
            lost = ExceptionInfo()
        for request in requests:
            request.on_failure(lost)
        told = [attempts_ended.get_nowait(), attempts_ended.get_nowait()]
        assert [(ended.job_id, ended.error_class) for ended in told] == [(1, "MemoryExceeded"), (2, "ProcessDied")]
        assert told[0].error.endswith("are allowed")
