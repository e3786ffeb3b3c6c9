"""A process that has closed its files may need a moment to end: the pool is looked after until it has."""

from itertools import count
from types import SimpleNamespace

from jobs.worker.children.reaping import LAST_PAUSE, reaping, status_of

PIDS = count(10**9)  # no process has such a number


class Pool:
    """Whose process ends after so many looks."""

    def __init__(self, looks: int) -> None:
        self.doomed = SimpleNamespace(pid=next(PIDS), exitcode=-9)
        self._pool, self.looks = [self.doomed, "other"], looks

    def maintain_pool(self) -> None:
        self.looks -= 1
        if self.looks == 0:
            self._pool.remove(self.doomed)


class Hub:
    def __init__(self) -> None:
        self.now, self.calls = 0.0, []

    def call_later(self, seconds, function, *args) -> None:
        self.calls.append((self.now + seconds, function, args))

    def run(self) -> None:
        while self.calls:
            self.now, function, args = self.calls.pop(0)
            function(*args)


def looked_after(looks: int) -> tuple[Pool, Hub]:
    pool, hub = Pool(looks), Hub()
    reaping(pool, lambda hub, process: pool.maintain_pool())(hub, pool.doomed)
    hub.run()
    return pool, hub


def test_a_process_that_has_ended_is_not_looked_at_again():
    pool, hub = looked_after(1)
    assert hub.now == 0.0
    assert status_of(pool.doomed.pid) == -9


def test_a_process_that_ends_a_moment_later_is_seen_a_moment_later():
    pool, hub = looked_after(2)
    assert pool._pool == ["other"]
    assert hub.now < 0.05
    assert status_of(pool.doomed.pid) == -9


def test_a_process_that_does_not_end_is_left_to_celerys_timer():
    pool, hub = looked_after(1000)
    assert pool._pool == [pool.doomed, "other"]
    assert status_of(pool.doomed.pid) is None
    assert hub.now < 2 * LAST_PAUSE
