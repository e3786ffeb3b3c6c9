"""Buckets of tokens, by a clock of the test."""

from plumbing.throttle import MOST_KEYS, Throttle


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_a_bucket_is_full_at_first_and_refills():
    clock = Clock()
    throttle = Throttle(clock)
    taken = [throttle.take("a", rate=2, burst=3) for _ in range(5)]
    assert taken == [0, 0, 0, 0.5, 0.5]
    assert throttle.wait("a", rate=2, burst=3) == 0.5
    clock.now += 0.5
    assert [throttle.take("a", rate=2, burst=3) for _ in range(2)] == [0, 0.5]
    clock.now += 3600
    assert [throttle.take("a", rate=2, burst=3) for _ in range(4)] == [0, 0, 0, 0.5]


def test_a_key_does_not_use_up_the_tokens_of_another():
    throttle = Throttle(Clock())
    assert throttle.take("a", rate=1, burst=1) == 0
    assert throttle.take("a", rate=1, burst=1) == 1
    assert throttle.take("b", rate=1, burst=1) == 0


def test_a_question_takes_no_token():
    throttle = Throttle(Clock())
    assert [throttle.wait("a", rate=1, burst=1) for _ in range(3)] == [0, 0, 0]


def test_the_throttle_does_not_grow_without_end():
    throttle = Throttle(Clock())
    for number in range(MOST_KEYS + 10):
        throttle.take(number, rate=1, burst=1)
    assert len(throttle._full_at) == MOST_KEYS
    assert throttle.wait(MOST_KEYS + 9, rate=1, burst=1) == 1, "the latest are remembered"
