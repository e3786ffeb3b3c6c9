"""The conditions that hold, for the bar of all pages and the page Health: one look in ten seconds for all viewers."""

from jobs.dashboard.kept import Kept
from jobs.engine.health import Condition, conditions, look

SECONDS = 10.0
_conditions: Kept[None, list[Condition] | None] = Kept(lambda _: conditions(look()), None, SECONDS)


def current() -> list[Condition] | None:
    """Critical ones first; None if the database has not answered in time."""
    return _conditions.get(None)
