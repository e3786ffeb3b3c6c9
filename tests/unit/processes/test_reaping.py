"""A process that has closed its files may need a moment to end: the pool is looked after until it has."""

from jobs.worker.children.reaping import LAST_PAUSE, reaping


class Pool:
    """Whose process ends after so many looks."""

    def __init__(self, looks: int) -> None:
        self._pool, self.looks = ["doomed", "other"], looks

    def maintain_pool(self) -> None:
        self.looks -= 1
        if self.looks == 0:
            self._pool.remove("doomed")


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
    reaping(pool, lambda hub, process: pool.maintain_pool())(hub, "doomed")
    hub.run()
    return pool, hub


def test_a_process_that_has_ended_is_not_looked_at_again():
    _, hub = looked_after(1)
    assert hub.now == 0.0


def test_a_process_that_ends_a_moment_later_is_seen_a_moment_later():
    pool, hub = looked_after(2)
    assert pool._pool == ["other"]
    assert hub.now < 0.05


def test_a_process_that_does_not_end_is_left_to_celerys_timer():
    pool, hub = looked_after(1000)
    assert pool._pool == ["doomed", "other"]
    assert hub.now < 2 * LAST_PAUSE
