"""The desk is read while it is written: by other processes, on other cores, and cut off at any word."""

import math
import multiprocessing
import os
import time

import pytest

from jobs.worker.children.running_table import Desk
from tests.thorough import sized

LOOKED_AT = sized(1, thorough=10)  # seconds
PROCESSES = 4
LONG = 1e6  # seconds


def _write(desk: Desk, seat: int, stop: object) -> None:
    """Go through attempts as a process does. All words of a note are functions of its job, so a torn one shows."""
    desk.sit_down(seat)
    job = 0
    while not stop.is_set():
        for _ in range(100):
            job += 1
            desk.hold(job, job)
            desk.limit(LONG, job)
            desk.lift()
            desk.let_go()


def test_no_note_is_torn_however_often_it_is_read_while_it_is_written():
    desk = Desk(PROCESSES)
    forked = multiprocessing.get_context("fork")
    stop = forked.Event()
    writers = [forked.Process(target=_write, args=(desk, seat, stop), daemon=True) for seat in range(PROCESSES)]
    for writer in writers:
        writer.start()
    pids = {writer.pid for writer in writers}
    read, torn, wrong = 0, 0, []
    until = time.monotonic() + LOOKED_AT
    while time.monotonic() < until:
        for note in desk.notes():
            read += 1
            torn += note.is_torn
            if not note.is_torn and not _is_whole(note, pids):
                wrong.append(note)
    stop.set()
    for writer in writers:
        writer.join()
    assert wrong == []
    assert read > torn > 0, "the reader met no writer at work"


def _is_whole(note, pids) -> bool:
    held = note.job_id == note.attempt
    limited = note.memory == note.job_id and time.monotonic() < note.deadline < math.inf
    return note.pid in pids and held and (limited if note.runs else note.memory == 0)


def test_a_note_that_changes_while_it_is_read_is_torn():
    desk = Desk(1)
    desk.sit_down(0)
    desk.hold(7, 1)
    moments = desk._moments

    class Written:
        """Another core writes a note before this word is read."""

        def __getitem__(self, word: int) -> float:
            desk._moments = moments
            desk.hold(8, 2)
            return moments[word]

    desk._moments = Written()
    (note,) = desk.notes()
    assert note.is_torn
    assert [(note.job_id, note.is_torn) for note in desk.notes()] == [(8, False)]


@pytest.mark.parametrize("word", range(6))
def test_a_process_that_dies_in_the_middle_of_a_note_has_said_nothing_and_the_next_one_on_its_seat_has(word):
    desk = Desk(1)
    desk.sit_down(0)
    desk.hold(7, 1)
    before = list(desk._words[1:7])
    desk.limit(-1.0, 9)
    after = list(desk._words[1:7])
    for place, value in enumerate([before[0] + 1, *after[1 : 1 + word], *before[1 + word :]]):
        desk._words[1 + place] = value
    assert desk.running() == []
    desk.sit_down(0)
    assert [(note.pid, note.job_id, note.is_torn) for note in desk.notes()] == [(os.getpid(), 0, False)]
    desk.hold(8, 2)
    desk.limit(LONG, 0)
    assert [(note.job_id, note.attempt) for note in desk.running()] == [(8, 2)]


def test_a_seat_that_nobody_took_says_nothing():
    desk = Desk(3)
    desk.sit_down(1)
    assert len(desk.notes()) == 1
    with pytest.raises(IndexError, match="at most 3 processes"):
        desk.sit_down(3)
