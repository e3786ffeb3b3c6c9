"""Lay out what runs now as a grid: a row for each worker, tenant or job type, a cell for each process.

Up to MAX_CELLS running jobs have a cell with a text and a link each; more are drawn as a bar in each row. Pure.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from jobs.console.ops.shared.snapshot import Snapshot
from jobs.console.ops.shared.takers import BY, COLOURS, Taker, colours, takers
from jobs.models import Job
from jobs.reading.listing import job_type

MAX_CELLS = 100  # running jobs with a cell each
MAX_ROWS = 30


@dataclass(frozen=True)
class Cell:
    """A running job.

    colour: that of its tenant
    """

    job: Job
    colour: int
    label: str

    @property
    def title(self) -> str:
        return f"{self.job.tenant.jobs_name}: {job_type(self.job)}, job {self.job.pk}, process {self.job.worker_pid}"


@dataclass(frozen=True)
class GridRow:
    """A row; without cells, its taker has a bar."""

    taker: Taker
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Grid:
    """The grid.

    by: how it is grouped, one of `choices`
    more: the number of rows that are not listed
    legend: colour, tenant and number of its running jobs
    """

    by: str
    rows: Sequence[GridRow]
    more: int
    legend: Sequence[tuple[int, str, int]]
    choices: Sequence[str] = BY


def grid(present: Snapshot, running: Mapping[UUID | None, Sequence[Job]], by: str) -> Grid | None:
    """Return the grid; None if nothing runs.

    running: the running jobs by worker; all of them, if they are at most MAX_CELLS
    by: one of BY; another one for the first of them
    """
    by = by if by in BY else BY[0]
    if not present.in_use:
        return None
    found, colour_of = takers(present, by), colours(present)
    cells: dict[Any, list[Cell]] = {}
    if sum(use.slots for use in present.in_use) <= MAX_CELLS:
        for job in (job for jobs in running.values() for job in jobs):
            key = {"worker": job.worker, "tenant": job.tenant_id, "type": job_type(job)}[by]
            label = job.tenant.jobs_name if by == "type" else job.source_method
            cells.setdefault(key, []).append(Cell(job, colour_of.get(job.tenant_id, COLOURS), label))
    rows = [GridRow(taker, cells.get(taker.key, ())) for taker in found[:MAX_ROWS]]
    return Grid(by, rows, len(found) - len(rows), _legend(present, colour_of))


def _legend(present: Snapshot, colour_of: Mapping[int, int]) -> list[tuple[int, str, int]]:
    held: Counter[int] = Counter()
    for use in present.in_use:
        held[colour_of[use.tenant_id]] += use.slots
    names = {colour: present.tenants[pk].name for pk, colour in colour_of.items() if pk in present.tenants}
    names[COLOURS] = "others"
    return [(colour, names.get(colour, "deleted"), jobs) for colour, jobs in sorted(held.items())]
