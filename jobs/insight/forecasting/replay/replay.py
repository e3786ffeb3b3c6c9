"""Replay a record with the real limits or with other ones, to find when each of its attempts starts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from statistics import median

from jobs.allocation.books import Books
from jobs.allocation.world import IdleGaps, SimulatedJob, World
from jobs.insight.forecasting.replay.limits import apply, books_of
from jobs.insight.forecasting.replay.record import LATEST, WARM, Hypothesis, PastAttempt, Record
from jobs.insight.forecasting.runs import Runs, collected

SHORTEST = 0.001  # the least seconds until a running job ends


@dataclass(slots=True, eq=False, kw_only=True)
class ReplayedJob(SimulatedJob):
    """An attempt in a replay.

    waits_for: the number of other attempts that must end first
    delay: the seconds from the end of the last of them until this one is ready
    heirs: the attempts that wait for this one
    """

    waits_for: int = 0
    delay: float = 0.0
    heirs: list["ReplayedJob"] = field(default_factory=list)


@dataclass(frozen=True)
class Replay:
    """A replay of a record, with the real limits or with those of a hypothesis."""

    record: Record
    idle_gaps: IdleGaps
    hypothesis: Hypothesis = field(default_factory=dict)

    def waits(self) -> list[float | None]:
        """Replay the record; return the seconds in line of each of its attempts, in their order there.

        The replay lasts until all attempts of the window have started. None: it does not count, or did not start.
        """
        books, changes = books_of(self.record, self.hypothesis)
        past = self.record.past
        jobs = again(self.record, books)
        coming = sorted((job for job in jobs if job is not None and _comes(job)), key=lambda job: job.ready_at)
        world = World(books, now=-WARM, idle_gaps=self.idle_gaps, coming=iter(coming))
        for change in changes:
            world.change(change.at, partial(apply, change))
        for attempt, job in zip(past, jobs, strict=True):
            if job is not None:
                _begin(world, attempt, job)
        wanted = {
            id(job) for attempt, job in zip(past, jobs, strict=True) if job is not None and counts(self.record, attempt)
        }
        while wanted and world.now < self.record.length + LATEST and world.step():
            wanted.difference_update(map(id, world.started))
            world.started.clear()
        return [
            None
            if job is None or job.started_at is None or not counts(self.record, attempt)
            else max(job.started_at - job.ready_at, 0.0)
            for attempt, job in zip(past, jobs, strict=True)
        ]


def counts(record: Record, attempt: PastAttempt) -> bool:
    """Return whether a recorded job counts: it had an attempt, and became ready in the window."""
    return attempt.started_at is not None and 0 <= attempt.ready_at < record.length


def again(record: Record, books: Books) -> list[ReplayedJob | None]:
    """Return the attempts as jobs of a world, each after its predecessors; None: the books lack its tenant or queue.

    A retry comes after the attempt before it; a first attempt, after the last attempts of the jobs that it waited for.
    """
    past = sorted(record.past, key=lambda attempt: attempt.ready_at)
    runs = collected(reversed(past))
    jobs = [
        _job(attempt, runs) if attempt.tenant_id in books.tenants and attempt.queue_id in books.queues else None
        for attempt in record.past
    ]
    of_job: dict[int, list[tuple[PastAttempt, ReplayedJob]]] = defaultdict(list)
    for attempt, job in zip(record.past, jobs, strict=True):
        if job is not None:
            of_job[attempt.job_id].append((attempt, job))
    for attempts in of_job.values():
        attempts.sort(key=lambda pair: pair[0].ready_at)
    for number, attempts in of_job.items():
        first = attempts[0]
        _after(first, [of_job[other][-1] for other in record.after.get(number, ()) if other in of_job])
        for before, following in pairwise(attempts):
            _after(following, [before])
    return jobs


def _after(pair: tuple[PastAttempt, ReplayedJob], others: Sequence[tuple[PastAttempt, ReplayedJob]]) -> None:
    """Let a job wait for others: it is ready the recorded delay after the last end among them.

    Others that had not ended by the recorded moment at which it became ready do not count.
    """
    past, job = pair
    ends = [
        (was.ended_at, other) for was, other in others if was.ended_at is not None and was.ended_at <= past.ready_at
    ]
    if ends and past.left_at is None and past.ready_at > -WARM:
        job.waits_for = len(ends)
        job.delay = past.ready_at - max(ended for ended, _ in ends)
        for _, other in ends:
            other.heirs.append(job)


def _job(attempt: PastAttempt, runs: Runs) -> ReplayedJob:
    return ReplayedJob(
        place=attempt.place,
        tenant=attempt.tenant_id,
        queue=attempt.queue_id,
        user=attempt.user,
        ready_at=attempt.ready_at,
        seconds=_seconds(attempt, runs),
        follows=attempt.good,
    )


def _seconds(attempt: PastAttempt, runs: Runs) -> float:
    """Return the recorded run time; for an attempt that has not ended, the median of those like it."""
    if attempt.seconds is not None:
        return attempt.seconds
    like = runs.like(attempt.tenant_id, attempt.job_type)
    return median(like) if like else SHORTEST


def _comes(job: ReplayedJob) -> bool:
    return not job.waits_for and job.ready_at > -WARM


def _begin(world: World, attempt: PastAttempt, job: ReplayedJob) -> None:
    if job.heirs:
        job.ended = partial(_let_come, world, job.heirs)
    if attempt.started_at is not None and attempt.started_at <= -WARM:
        claimed = attempt.started_at if attempt.claimed_at is None else attempt.claimed_at
        ends = max(attempt.started_at + job.seconds, -WARM + SHORTEST)
        world.hold(job, claimed_at=claimed, started_at=attempt.started_at, ends_at=ends)
    elif job.ready_at <= -WARM and not job.waits_for:
        world.arrive(job)
    if attempt.left_at is not None:
        world.leave(job, max(attempt.left_at, attempt.ready_at + SHORTEST, SHORTEST - WARM))


def _let_come(world: World, heirs: Iterable[ReplayedJob], now: float) -> None:
    for job in heirs:
        job.waits_for -= 1
        if not job.waits_for:
            job.ready_at = now + job.delay
            world.arrive(job)
