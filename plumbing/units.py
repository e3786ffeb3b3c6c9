"""The names and the amounts of units: what a body says it has used, such as tokens. Imports nothing of Django."""

import re
from collections.abc import Iterable

from plumbing.bounds import is_whole

MOST_NAMES = 8  # of an attempt, of a job type, of a tenant's budgets
MOST_UNITS = 10**15  # of one call, and of a budget; spreadsheets and JSON have such numbers exactly
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
NAMED = "1 to 40 of a-z, 0-9 and _, first a letter"


def is_unit(name: object) -> bool:
    """Return whether a unit may have this name."""
    return isinstance(name, str) and NAME.fullmatch(name) is not None


def is_amount(number: object, least: int = 0) -> bool:
    """Return whether this is a number of units."""
    return is_whole(number, least, MOST_UNITS)


def why_not_names(names: Iterable[object]) -> str:
    """Return why units cannot have these names, or ""."""
    several = list(names)
    wrong = [name for name in several if not is_unit(name)]
    if wrong:
        return f"{wrong[0]!r} is no name of a unit: use {NAMED}"
    if len(several) > MOST_NAMES:
        return f"{len(several)} units are too many: at most {MOST_NAMES}"
    return ""
