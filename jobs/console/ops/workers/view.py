"""The page of workers: their state, what each runs, and a button to drain it.

A light worker may run thousands of attempts: its row counts them by type, and lists those that have run longest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Max
from django.http import HttpRequest, HttpResponse

from jobs.console.ops.shared import live, snapshot
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done, refused
from jobs.console.ops.shared.taken_back import taken_back
from jobs.console.ops.workers.grid import MAX_CELLS, grid
from jobs.console.ops.workers.reads import (
    MAX_LISTED,
    RecentWork,
    RunningType,
    blocked_loops,
    longest_running,
    recent_work,
    running_types,
)
from jobs.engine.verbs import drain
from jobs.models import Job, Recorded, Worker
from jobs.pages.answers import existing
from jobs.pages.typed import texts
from jobs.reading.blocks import BlockNow
from jobs.reading.looking import Worker as ListedWorker
from jobs.reading.migrations import open_migrations
from plumbing.names import named

MAX_TYPES = 5  # of the running jobs of a worker that are listed


@dataclass(frozen=True)
class WorkerRow:
    """A registered worker, as the page lists it.

    in_use: the processes that have a job; of a light worker the seats
    blocks: its event loops that are blocked now
    types: the types of its running jobs, those with most of them first
    longest: those of its running jobs that have run longest
    """

    worker: ListedWorker
    state: str
    in_use: int
    work: RecentWork
    blocks: Sequence[BlockNow]
    types: Sequence[RunningType]
    longest: Sequence[Job]

    @property
    def jobs(self) -> int:
        """Return the number of its running jobs."""
        return sum(one.jobs for one in self.types)

    @property
    def last_end(self) -> datetime | None:
        """Return when the last of them ends at the latest; None if it runs none."""
        return max((one.ends_by for one in self.types), default=None)

    @property
    def most_types(self) -> Sequence[RunningType]:
        """Return the types to list, if there are more jobs than are listed one by one."""
        return self.types[:MAX_TYPES] if self.jobs > len(self.longest) else ()

    @property
    def search(self) -> str:
        """Return a search for its running jobs, up to their type."""
        return f"status:running worker:{self.worker.name} type:"

    @property
    def more_types(self) -> int:
        """Return the number of the other types."""
        return len(self.types) - len(self.most_types)


@dataclass(frozen=True)
class Running:
    """The running jobs of all workers.

    jobs: their number
    longest_since: the earliest start
    all_by: when the last one ends at the latest
    """

    jobs: int
    longest_since: datetime | None
    all_by: datetime | None


@dataclass(frozen=True)
class ClockState:
    """The clock.

    leader: the worker whose clock leads, if any
    apart: whether one leads that is no worker's
    recorded_at: when the recorder last looked
    """

    leader: ListedWorker | None
    apart: bool
    recorded_at: datetime | None


@page_for("jobs.view_worker")
def show(request: HttpRequest) -> HttpResponse:
    """Show the workers.

    `by`: how the grid groups what runs, one of `takers.BY`
    """
    present, work = snapshot.current(), recent_work()
    may_see_jobs = request.user.has_perm(named("jobs.view_job"))
    types = running_types() if may_see_jobs else {}
    each = MAX_CELLS if sum(use.slots for use in present.in_use) <= MAX_CELLS else MAX_LISTED
    running = longest_running(each) if may_see_jobs else {}
    of_all = [one for types_of_worker in types.values() for one in types_of_worker]
    blocks = blocked_loops() if any(worker.is_light for worker in present.workers) else {}
    leader = next((worker for worker in present.workers if worker.leads), None)
    known = live.facts()
    apart = leader is None and known is not None and known.server.clock_leads
    recorded_at = Recorded.objects.exclude(task="missed").aggregate(at=Max("at"))["at"]
    rows = [
        WorkerRow(
            worker,
            worker.state(present.now),
            present.in_use_by_worker.get(worker.id, 0),
            work.get(worker.id, RecentWork()),
            blocks.get(worker.id, []),
            types.get(worker.id, []),
            running.get(worker.id, [])[:MAX_LISTED],
        )
        for worker in present.workers
        if worker.gone_at is None
    ]
    gone = [worker for worker in present.workers if worker.gone_at is not None]
    lost = taken_back(gone)
    regions = {
        "snapshot": present,
        "clock": ClockState(leader, apart, recorded_at),
        "running": Running(
            sum(one.jobs for one in of_all),
            min((one.since for one in of_all), default=None),
            max((one.ends_by for one in of_all), default=None),
        ),
        "workers": rows,
        "grid": grid(present, running, texts(request.GET, ("by",))["by"]) if may_see_jobs else None,
        "gone": [(worker, work.get(worker.id, RecentWork()), lost.get(worker.id)) for worker in gone],
        "open_migrations": open_migrations(),
        "handed_over": present.in_use_by_worker.get(None, 0),
    }
    return live.page(request, "workers", "Workers", ("old", "workers", "runs", "gone"), regions)


@action_for("jobs.change_worker")
def drain_worker(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Let a worker take no more jobs, and stop when its running jobs have ended."""
    worker = existing(Worker.objects.filter(pk=pk).first())
    if not drain.drain(pk):
        return refused(request, f"{worker.name} is gone, or is already draining.")
    return done(request, f"{worker.name} takes no more jobs, and stops when its running jobs have ended.")
