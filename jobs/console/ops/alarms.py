"""What is wrong, for the bar of all pages and the page Health: one look in ten seconds for all viewers."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import DatabaseError

from jobs.console.ops import snapshot
from jobs.console.ops.cached import Kept
from jobs.reading.health import Condition, Facts, conditions, look

SECONDS = 10.0


@dataclass(frozen=True)
class Alarms:
    """conditions: those that hold, critical ones first."""

    facts: Facts
    conditions: Sequence[Condition]


def current() -> Alarms | None:
    """None if the database has not answered in time: nobody knows whether all is well."""
    return _alarms.get(None)


def _look(_: None) -> Alarms | None:
    seen = snapshot.current()
    try:
        facts = look(queues=seen.queues, lanes=seen.lanes) if seen.has_just_read("queues", "lanes") else look()
    except DatabaseError:
        return None
    return Alarms(facts, conditions(facts))


_alarms: Kept[None, Alarms | None] = Kept(_look, None, SECONDS)
