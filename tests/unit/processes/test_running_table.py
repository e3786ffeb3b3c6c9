"""The table is read while it is written: by other processes, on other cores, and cut off at any word."""

import math
import multiprocessing
import os
import time

import pytest

from jobs.worker.children.running_table import RunningTable
from tests.thorough import sized

LOOKED_AT = sized(1, thorough=10)  # seconds
PROCESSES = 4
LONG = 1e6  # seconds


def _write(table: RunningTable, index: int, stop: object) -> None:
    """Go through attempts as a process does. All words of an entry are functions of its job, so a torn one shows."""
    entry = table.take_entry(index, os.getpid())
    job = 0
    while not stop.is_set():
        for _ in range(100):
            job += 1
            entry.hold(job, job)
            entry.limit(LONG, job)
            entry.lift_limit()
            entry.let_go()


def test_no_entry_is_torn_however_often_it_is_read_while_it_is_written():
    table = RunningTable(PROCESSES)
    forked = multiprocessing.get_context("fork")
    stop = forked.Event()
    writers = [forked.Process(target=_write, args=(table, index, stop), daemon=True) for index in range(PROCESSES)]
    for writer in writers:
        writer.start()
    pids = {writer.pid for writer in writers}
    read, torn, wrong = 0, 0, []
    until = time.monotonic() + LOOKED_AT
    while time.monotonic() < until:
        for entry in table.entries():
            read += 1
            torn += entry.is_torn
            if not entry.is_torn and not _is_whole(entry, pids):
                wrong.append(entry)
    stop.set()
    for writer in writers:
        writer.join()
    assert wrong == []
    assert read > torn > 0, "the reader met no writer at work"


def _is_whole(entry, pids) -> bool:
    held = entry.job_id == entry.attempt
    limited = entry.memory == entry.job_id and time.monotonic() < entry.deadline < math.inf
    return entry.pid in pids and held and (limited if entry.runs else entry.memory == 0)


def test_an_entry_that_changes_while_it_is_read_is_torn():
    table = RunningTable(1)
    own = table.take_entry(0, os.getpid())
    own.hold(7, 1)
    moments = table._moments

    class Written:
        """Another core writes an entry before this word is read."""

        def __getitem__(self, word: int) -> float:
            table._moments = moments
            own.hold(8, 2)
            return moments[word]

    table._moments = Written()
    (entry,) = table.entries()
    assert entry.is_torn
    assert [(entry.job_id, entry.is_torn) for entry in table.entries()] == [(8, False)]


@pytest.mark.parametrize("word", range(6))
def test_a_process_that_dies_in_the_middle_of_an_entry_has_said_nothing_and_the_next_one_in_its_place_has(word):
    table = RunningTable(1)
    own = table.take_entry(0, os.getpid())
    own.hold(7, 1)
    before = list(table._words[2:8])
    own.limit(-1.0, 9)
    after = list(table._words[2:8])
    for place, value in enumerate([before[0] + 1, *after[1 : 1 + word], *before[1 + word :]]):
        table._words[2 + place] = value
    assert table.running() == []
    own = table.take_entry(0, os.getpid())
    assert [(entry.pid, entry.job_id, entry.is_torn) for entry in table.entries()] == [(os.getpid(), 0, False)]
    own.hold(8, 2)
    own.limit(LONG, 0)
    assert [(entry.job_id, entry.attempt) for entry in table.running()] == [(8, 2)]


def test_an_entry_that_nobody_took_says_nothing():
    table = RunningTable(3)
    table.take_entry(1, os.getpid())
    assert len(table.entries()) == 1
    with pytest.raises(IndexError, match="at most 3 processes"):
        table.take_entry(3, os.getpid())
