"""The soft time limit is a timer: it hits the body, and nothing after it."""

import os
import signal
import threading

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from jobs import time_limit


@pytest.fixture(autouse=True)
def as_it_was():
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_armed_the_timer_interrupts_what_runs():
    time_limit.arm(0.01)
    with pytest.raises(SoftTimeLimitExceeded):
        threading.Event().wait(30)


def test_disarmed_a_late_signal_is_ignored():
    time_limit.arm(60)
    time_limit.disarm()
    os.kill(os.getpid(), signal.SIGALRM)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_it_can_be_armed_again_for_the_next_job():
    time_limit.disarm()
    time_limit.arm(60)
    with pytest.raises(SoftTimeLimitExceeded):
        os.kill(os.getpid(), signal.SIGALRM)


def test_a_thread_that_cannot_set_signals_leaves_them_alone():
    time_limit.disarm()
    thread = threading.Thread(target=time_limit.arm, args=(60,))
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
