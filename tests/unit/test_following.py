"""The pace of an event stream, and its ends: with a clock that moves only while somebody sleeps."""

import asyncio

import pytest
from django.db import InterfaceError, OperationalError

from jobs.portal.api import following
from jobs.portal.api.following import Event, Gone, follow

STATUS = Event("status", "1.running.0.a", {"status": "running"})
PROGRESS = Event("progress", "1.running.0.b", {"progress": 0.5})
END = Event("end", "1.success.0.b", {"status": "success"})


class Stream:
    """What a client gets whose looks find these, one after the other, and then nothing new."""

    def __init__(self, first, *found, allowed=lambda now: True):
        self.now, self.sleeps, self.asked = 100.0, [], []
        self._found, self._allowed = list(found), allowed
        self.parts = asyncio.run(self._listen(first))
        self.seconds = self.now - 100.0

    async def _listen(self, first):
        stream = follow(first, self._look, self._may_know, sleep=self._sleep, clock=lambda: self.now)
        return [part async for part in stream]

    async def _sleep(self, seconds):
        self.sleeps.append(seconds)
        self.now += seconds

    async def _look(self):
        found = self._found.pop(0) if self._found else None
        if isinstance(found, Exception):
            raise found
        return found

    async def _may_know(self):
        self.asked.append(self.now)
        return self._allowed(self.now - 100.0)


def test_events_are_told_as_found_until_the_end():
    parts = Stream(STATUS, None, PROGRESS, END, STATUS).parts
    assert parts == ["retry: 2000\n\n", str(STATUS), str(PROGRESS), str(END)]


def test_an_event_is_a_block_of_named_lines():
    assert str(PROGRESS) == 'event: progress\nid: 1.running.0.b\ndata: {"progress": 0.5}\n\n'


def test_an_ended_job_is_told_and_nothing_is_waited_for():
    assert Stream(END).sleeps == []


def test_a_client_that_has_it_all_learns_that_the_stream_is_open():
    assert Stream(None, END).parts == ["retry: 2000\n\n", str(END)]


def test_a_silent_stream_shows_that_it_lives_and_is_over_in_five_minutes():
    stream = Stream(STATUS)
    beats = stream.parts[2:]
    assert set(beats) == {":\n\n"}
    assert 18 <= len(beats) <= 20
    assert following.MAX_STREAM_SECONDS <= stream.seconds < following.MAX_STREAM_SECONDS + 1


def test_looks_grow_rarer_and_are_quick_again_after_a_status_but_not_after_progress():
    stream = Stream(None, *[None] * 8, STATUS, *[None] * 8, PROGRESS, None, END)
    assert stream.sleeps[0] == stream.sleeps[9] == 0.05
    assert stream.sleeps[8] == 0.5
    assert stream.sleeps[18] == 0.5


@pytest.mark.parametrize("away", [OperationalError(), InterfaceError()])
def test_while_the_database_is_away_the_stream_stays_and_then_goes_on(away):
    assert Stream(STATUS, *[away] * 50, END).parts[-1] == str(END)


def test_a_job_that_is_gone_ends_the_stream_without_a_word():
    assert Stream(STATUS, Gone()).parts == ["retry: 2000\n\n", str(STATUS)]


def test_a_client_that_lost_its_right_gets_no_more_events():
    stream = Stream(STATUS, *[None] * 40, END, allowed=lambda seconds: seconds < 10)
    assert str(END) not in stream.parts
    assert 10 <= stream.seconds < 10 + following.CHECK + 1
    assert len(stream.asked) <= 3
