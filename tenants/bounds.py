"""Bounds that several modules hold. Imports nothing of Django: retry policies and due times, which are pure, hold them,
too.
"""

from math import inf
from typing import TypeGuard

MAX_SECONDS = 366 * 24 * 3600.0  # seconds of a delay, a timeout, a window; PostgreSQL can store the moment after it
MOST_SLOTS = 10_000  # of a tenant
MOST_DAYS = 36_500  # that a tenant's history may be kept
NAME_LENGTH, SLUG_LENGTH = 200, 255  # characters of a tenant's
LARGEST_ID = 2**63 - 1  # of PostgreSQL's bigint


def is_number(value: object, least: float = -inf, most: float = inf) -> TypeGuard[float]:
    """Whether it is a number within these bounds. True and False are none, nor is nan."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most


def is_whole(value: object, least: float = -inf, most: float = inf) -> TypeGuard[int]:
    """Whether it is a whole number within these bounds. 1.0, True and False are none."""
    return isinstance(value, int) and is_number(value, least, most)


def is_id(number: int) -> bool:
    """Whether a row can have this id. For another number PostgreSQL reads every row: no index of ids holds it."""
    return 0 < number <= LARGEST_ID
