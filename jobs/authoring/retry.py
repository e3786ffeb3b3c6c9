"""Retry policies: `Retry.exponential(max_retries=5)` and others decide when a failed attempt is repeated. Pure.

n is the number of retries so far: the delay before the first retry is the one for n = 0.
"""

import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from plumbing.bounds import MAX_SECONDS, is_number, is_whole

Answer = float | Literal["exponential", False]
Decide = Callable[[BaseException, int], Answer]

FIRST_DELAY, MAX_DELAY = 10.0, 3600.0  # seconds: the first exponential delay, and the longest


@dataclass(frozen=True)
class Retry:
    """A retry policy.

    decide: returns the delay in seconds after an error and n retries, "exponential" for base * 2^n, or False to stop.
    max_retries: the job is dead when an attempt fails after so many retries.
    queue: the queue of retries; None: the job's own.
    base: the first exponential delay, in seconds.
    cap: the longest delay, in seconds.
    jitter: the random part of the delay, 0 to 1, so that jobs that failed together are retried apart.
        1 is "full jitter": https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/

    Raises ValueError, naming the parameter, for a value out of range.
    """

    decide: Decide
    max_retries: int
    queue: str | None = None
    base: float = FIRST_DELAY
    cap: float = MAX_DELAY
    jitter: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.decide):
            raise ValueError(f"decide: must be a callable (error, n), not {self.decide!r}")
        if not is_whole(self.max_retries, 0):
            raise ValueError(f"max_retries: must be a whole number, 0 or more, not {self.max_retries!r}")
        if self.queue is not None and not (isinstance(self.queue, str) and self.queue):
            raise ValueError(f"queue: must be a queue's name or None, not {self.queue!r}")
        if not is_number(self.jitter, 0, 1):
            raise ValueError(f"jitter: must be from 0 to 1, not {self.jitter!r}")
        _check_seconds("base", self.base, limit=sys.float_info.max)
        _check_seconds("cap", self.cap, limit=MAX_SECONDS)

    @classmethod
    def every(cls, seconds: float, *, max_retries: int, queue: str | None = None, jitter: float = 0.0) -> "Retry":
        """Wait the same time before each retry."""
        _check_seconds("seconds", seconds, limit=MAX_SECONDS)
        return cls(lambda error, n: seconds, max_retries, queue, cap=seconds, jitter=jitter)

    @classmethod
    def exponential(
        cls,
        *,
        max_retries: int,
        base: float = FIRST_DELAY,
        cap: float = MAX_DELAY,
        queue: str | None = None,
        jitter: float = 0.0,
    ) -> "Retry":
        """Wait base * 2^n seconds, at most cap."""
        return cls(lambda error, n: "exponential", max_retries, queue, base, cap, jitter)

    @classmethod
    def polynomial(
        cls, *, max_retries: int, cap: float = 24 * 3600.0, queue: str | None = None, jitter: float = 0.0
    ) -> "Retry":
        """Wait 30 + n^5 seconds, at most cap: the first retries come soon, the later ones over days."""
        return cls(lambda error, n: 30.0 + float(n) ** 5, max_retries, queue, cap=cap, jitter=jitter)

    @classmethod
    def custom(
        cls,
        decide: Decide,
        *,
        max_retries: int,
        base: float = FIRST_DELAY,
        cap: float = MAX_DELAY,
        queue: str | None = None,
        jitter: float = 0.0,
    ) -> "Retry":
        """Let decide(error, n) choose: seconds, "exponential", or False to stop."""
        return cls(decide, max_retries, queue, base, cap, jitter)

    def delay(
        self,
        error: BaseException,
        retries: int,
        max_retries: int | None = None,
        draw: Callable[[], float] = random.random,
    ) -> float | None:
        """Return the seconds until the next try after this number of retries; None if the job is dead.

        max_retries: overrides the policy's number.
        draw: returns a random number from 0 to 1.

        Raises ValueError if a custom function returns anything but seconds, "exponential" or False.
        """
        if retries >= (self.max_retries if max_retries is None else max_retries):
            return None
        answer = self.decide(error, retries)
        if answer is False:
            return None
        seconds = self._exponential(retries) if answer == "exponential" else answer
        if not is_number(seconds, 0) or seconds == math.inf:
            raise ValueError(f'a retry policy must return seconds, "exponential" or False, not {answer!r}')
        # apply the cap first: a whole number like 3 ** 1000 is too large for a float
        return float(min(seconds, self.cap)) * (1 - self.jitter * draw())

    def _exponential(self, retries: int) -> float:
        # 2.0 ** 1024 overflows; the cap is reached long before
        return min(self.base * 2.0 ** min(retries, 1000), self.cap)


def _check_seconds(name: str, value: float, *, limit: float) -> None:
    if not is_number(value, 0, limit):
        raise ValueError(f"{name}: must be a number of seconds from 0 to {limit:.15g}, not {value!r}")
