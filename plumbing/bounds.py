"""Bounds that several modules check. Imports nothing of Django: pure modules (retry policies, due times) use them."""

from math import inf
from typing import TypeGuard

MAX_SECONDS = 366 * 24 * 3600.0  # seconds of a delay, a timeout, a window; PostgreSQL can store the moment after it
MOST_SLOTS = 10_000  # of a tenant
MOST_DAYS = 36_500  # days that a tenant's history may be kept
NAME_LENGTH, SLUG_LENGTH = 200, 255  # characters of a tenant's name and slug
LARGEST_ID = 2**63 - 1  # of PostgreSQL's bigint


def is_number(value: object, least: float = -inf, most: float = inf) -> TypeGuard[float]:
    """Return whether the value is a number within these bounds. True, False and nan are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most


def is_whole(value: object, least: float = -inf, most: float = inf) -> TypeGuard[int]:
    """Return whether the value is a whole number within these bounds. 1.0, True and False are not."""
    return isinstance(value, int) and is_number(value, least, most)


def is_id(number: int) -> bool:
    """Return whether a row can have this id. Do not query for other numbers: PostgreSQL would read every row."""
    return 0 < number <= LARGEST_ID
