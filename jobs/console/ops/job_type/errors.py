"""The errors of a job type by their shape: of its latest failed attempts, and of its dead letters."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import Error

from jobs.console.ops.job_type.reads import FailedLike, TypeName
from jobs.console.ops.shared.dead_groups import Group, groups
from jobs.console.ops.shared.dead_letters import matching
from jobs.reading.looking import looking
from plumbing.error_shapes import class_of


@dataclass(frozen=True)
class ErrorRow:
    """The failed attempts and the dead letters whose errors have one shape.

    error: the whole text of the latest
    failed: the number of failed attempts, of those that were read
    dead: the number of dead letters
    """

    like: str
    error: str
    failed: int
    dead: int
    last: datetime

    @property
    def error_class(self) -> str:
        return class_of(self.like)


def dead_of(name: TypeName, now: datetime) -> list[Group] | None:
    """Return the dead letters of a job type by the shape of their error; None if that takes too long."""
    try:
        with looking():
            return groups(matching({"type": str(name)}, now), now)[0]
    except Error:
        return None


def rows(failed: Sequence[FailedLike], dead: Sequence[Group]) -> list[ErrorRow]:
    """Return a row for each shape, those that killed most jobs first."""
    by_shape = {one.like: ErrorRow(one.like, one.error, one.attempts, 0, one.last) for one in failed}
    for group in dead:
        found = by_shape.get(group.like)
        newer = found is None or found.last < group.last
        by_shape[group.like] = ErrorRow(
            group.like,
            group.example if newer or found is None else found.error,
            found.failed if found else 0,
            group.count,
            group.last if newer or found is None else found.last,
        )
    return sorted(by_shape.values(), key=lambda row: (-row.dead, -row.failed))
