"""Reads that many share: few at a time, none of them older than the question, and each error to those who asked."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from jobs.reading import together
from jobs.reading.together import Together


@pytest.fixture(autouse=True)
def without_database(monkeypatch):
    """`close_old_connections` would look at them."""
    monkeypatch.setattr(together, "close_old_connections", lambda: None)
    monkeypatch.setattr(together, "connection", type("Nothing", (), {"in_atomic_block": False}))


class Reads:
    """Notes what is read; answers each number with its square, and 13 with an error."""

    def __init__(self):
        self.asked = []

    def __call__(self, keys):
        self.asked.append(sorted(keys))
        if 13 in keys:
            raise ZeroDivisionError
        return {key: key * key for key in keys if key > 0}


def test_questions_asked_at_once_are_answered_by_one_read():
    reads = Reads()
    shared = Together(reads, every=0)

    async def ask():
        return await asyncio.gather(*(shared.ask(n) for n in (1, 2, 2, -1)))

    assert asyncio.run(ask()) == [1, 4, 4, None]
    assert reads.asked == [[-1, 1, 2]]


def test_a_question_during_a_read_is_answered_by_the_next_one():
    reads = Reads()
    shared = Together(reads, every=0)

    async def ask():
        first = asyncio.create_task(shared.ask(1))
        while not reads.asked:
            await asyncio.sleep(0)
        return await asyncio.gather(first, shared.ask(1), shared.ask(2))

    assert asyncio.run(ask()) == [1, 1, 4]
    assert reads.asked == [[1], [1, 2]]


def test_an_error_reaches_all_who_asked_and_nobody_later():
    shared = Together(Reads(), every=0)

    async def ask():
        failed = await asyncio.gather(shared.ask(1), shared.ask(13), return_exceptions=True)
        return failed, await shared.ask(1)

    failed, later = asyncio.run(ask())
    assert [type(error) for error in failed] == [ZeroDivisionError, ZeroDivisionError]
    assert later == 1


def test_a_client_that_hangs_up_leaves_the_others_their_answer():
    shared = Together(Reads(), every=0)

    async def ask():
        leaving, staying = asyncio.create_task(shared.ask(1)), asyncio.create_task(shared.ask(1))
        await asyncio.sleep(0)
        leaving.cancel()
        return await staying

    assert asyncio.run(ask()) == 1


def test_another_event_loop_finds_nothing_of_one_that_has_ended():
    shared = Together(Reads(), every=60)

    async def leave():
        await shared.ask(1)
        asyncio.create_task(shared.ask(2))  # noqa: RUF006 - it is cancelled with the loop, before its turn
        await asyncio.sleep(0)

    async def ask():
        shared._next = 0.0
        return await shared.ask(3)

    asyncio.run(leave())
    assert asyncio.run(ask()) == 9


def test_the_event_loops_of_two_threads_each_answer_their_own():
    reading, asked_beside = threading.Event(), threading.Event()

    def read(keys):
        reading.set()
        assert asked_beside.wait(30)
        return Reads()(keys)

    shared = Together(read, every=0)

    async def ask_beside():
        answer = asyncio.create_task(shared.ask(2))
        await asyncio.sleep(0)
        asked_beside.set()
        return await asyncio.wait_for(answer, 5)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(asyncio.run, shared.ask(1))
        assert reading.wait(30)
        beside = threads.submit(asyncio.run, ask_beside())
        assert (first.result(), beside.result()) == (1, 4)
