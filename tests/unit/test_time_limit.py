"""The soft time limit is a signal: it hits the body, and nothing after it."""

import os
import signal
import threading

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from billiard.pool import SIG_SOFT_TIMEOUT

from jobs import time_limit


@pytest.fixture(autouse=True)
def as_it_was():
    before = signal.getsignal(SIG_SOFT_TIMEOUT)
    yield
    signal.signal(SIG_SOFT_TIMEOUT, before)


def test_armed_the_signal_interrupts_what_runs():
    time_limit.arm()
    with pytest.raises(SoftTimeLimitExceeded):
        os.kill(os.getpid(), SIG_SOFT_TIMEOUT)


def test_disarmed_the_signal_is_ignored():
    time_limit.arm()
    time_limit.disarm()
    os.kill(os.getpid(), SIG_SOFT_TIMEOUT)


def test_it_can_be_armed_again_for_the_next_job():
    time_limit.disarm()
    time_limit.arm()
    with pytest.raises(SoftTimeLimitExceeded):
        os.kill(os.getpid(), SIG_SOFT_TIMEOUT)


def test_a_thread_that_cannot_set_signals_leaves_them_alone():
    time_limit.disarm()
    thread = threading.Thread(target=time_limit.arm)
    thread.start()
    thread.join()
    assert signal.getsignal(SIG_SOFT_TIMEOUT) is signal.SIG_IGN
