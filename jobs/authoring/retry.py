"""When a failed attempt is tried again: `Retry.exponential(max_retries=5)` and the like. Pure.

n counts the retries so far, from 0: the delay before the first retry is that of n = 0.
"""

import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Answer = float | Literal["exponential", False]
Decide = Callable[[BaseException, int], Answer]

BASE, CAP = 10.0, 3600.0  # seconds: the first exponential delay, and the longest
LONGEST = 366 * 24 * 3600.0  # seconds: no cap is above, so that the due moment is one that PostgreSQL can hold


@dataclass(frozen=True)
class Retry:
    """A retry policy.

    decide: the delay in seconds after an error and n retries, "exponential" for base * 2^n, or False to stop.
    max_retries: after so many the job is dead. queue: where retries wait; None: where the job was.
    cap: the longest delay, in seconds. jitter: 0..1, the part of the delay that is drawn at random ("full jitter" is 1,
    https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), so that what failed together does not
    come back together.
    Raises ValueError, naming the parameter, for a value out of its range.
    """

    decide: Decide
    max_retries: int
    queue: str | None = None
    base: float = BASE
    cap: float = CAP
    jitter: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.decide):
            raise ValueError(f"decide: must be a callable (error, n), not {self.decide!r}")
        if not isinstance(self.max_retries, int) or isinstance(self.max_retries, bool) or self.max_retries < 0:
            raise ValueError(f"max_retries: must be a whole number, 0 or more, not {self.max_retries!r}")
        if self.queue is not None and not (isinstance(self.queue, str) and self.queue):
            raise ValueError(f"queue: must be a queue's name or None, not {self.queue!r}")
        if not (_is_number(self.jitter) and 0 <= self.jitter <= 1):
            raise ValueError(f"jitter: must be from 0 to 1, not {self.jitter!r}")
        _check_seconds("base", self.base, most=sys.float_info.max)
        _check_seconds("cap", self.cap, most=LONGEST)

    @classmethod
    def every(cls, seconds: float, *, max_retries: int, queue: str | None = None, jitter: float = 0.0) -> "Retry":
        """After the same delay each time."""
        _check_seconds("seconds", seconds, most=LONGEST)
        return cls(lambda error, n: seconds, max_retries, queue, cap=seconds, jitter=jitter)

    @classmethod
    def exponential(
        cls,
        *,
        max_retries: int,
        base: float = BASE,
        cap: float = CAP,
        queue: str | None = None,
        jitter: float = 0.0,
    ) -> "Retry":
        """After base * 2^n seconds, at most cap."""
        return cls(lambda error, n: "exponential", max_retries, queue, base, cap, jitter)

    @classmethod
    def polynomial(
        cls, *, max_retries: int, cap: float = 24 * 3600.0, queue: str | None = None, jitter: float = 0.0
    ) -> "Retry":
        """After 30 + n^5 seconds, at most cap: soon at first, then over days."""
        return cls(lambda error, n: 30.0 + float(n) ** 5, max_retries, queue, cap=cap, jitter=jitter)

    @classmethod
    def custom(
        cls,
        decide: Decide,
        *,
        max_retries: int,
        base: float = BASE,
        cap: float = CAP,
        queue: str | None = None,
        jitter: float = 0.0,
    ) -> "Retry":
        """As decide(error, n) says: seconds, "exponential", or False to stop."""
        return cls(decide, max_retries, queue, base, cap, jitter)

    def delay(
        self,
        error: BaseException,
        retries: int,
        max_retries: int | None = None,
        draw: Callable[[], float] = random.random,
    ) -> float | None:
        """Seconds until the next try after `retries` of them; None when there is none: the job is dead.

        max_retries: instead of the policy's own. draw: a random number from 0 to 1. Raises ValueError when a custom
        callable answers neither seconds, "exponential" nor False.
        """
        if retries >= (self.max_retries if max_retries is None else max_retries):
            return None
        answer = self.decide(error, retries)
        if answer is False:
            return None
        seconds = self._exponential(retries) if answer == "exponential" else answer
        if not (_is_number(seconds) and 0 <= seconds < math.inf):
            raise ValueError(f'a retry policy answers seconds, "exponential" or False, not {answer!r}')
        # the cap first: a whole number like 3 ** 1000 is too large for a float
        return float(min(seconds, self.cap)) * (1 - self.jitter * draw())

    def _exponential(self, retries: int) -> float:
        # 2.0 ** 1024 overflows; long before, the cap is reached
        return min(self.base * 2.0 ** min(retries, 1000), self.cap)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_seconds(name: str, value: float, *, most: float) -> None:
    if not (_is_number(value) and 0 <= value <= most):  # nan lies nowhere
        raise ValueError(f"{name}: must be a number of seconds from 0 to {most:g}, not {value!r}")
