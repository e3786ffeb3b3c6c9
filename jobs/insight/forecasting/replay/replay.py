"""Replay a record with the real limits or with other ones, to find when each of its attempts starts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from statistics import median

from jobs.allocation.books import Books
from jobs.allocation.world import Job, Pauses, World
from jobs.insight.forecasting.replay.limits import apply, books_of
from jobs.insight.forecasting.replay.record import LATEST, WARM, Hypothesis, Past, Record
from jobs.insight.forecasting.runs import Runs, collected

SHORTEST = 0.001  # the least seconds until a running job ends


@dataclass(slots=True, eq=False, kw_only=True)
class Again(Job):
    """An attempt in a replay.

    waits_for: the number of other attempts that must end first
    delay: the seconds from the end of the last of them until this one is ready
    heirs: the attempts that wait for this one
    """

    waits_for: int = 0
    delay: float = 0.0
    heirs: list["Again"] = field(default_factory=list)


@dataclass(frozen=True)
class Replay:
    """A replay of a record, with the real limits or with those of a hypothesis."""

    record: Record
    pauses: Pauses
    hypothesis: Hypothesis = field(default_factory=dict)

    def waits(self) -> list[float | None]:
        """Replay the record; return the seconds in line of each of its attempts, in their order there.

        The replay lasts until all attempts of the window have started. None: it does not count, or did not start.
        """
        books, changes = books_of(self.record, self.hypothesis)
        past = self.record.past
        jobs = again(self.record, books)
        coming = sorted((job for job in jobs if job is not None and _comes(job)), key=lambda job: job.ready_at)
        world = World(books, now=-WARM, pauses=self.pauses, coming=iter(coming))
        for change in changes:
            world.change(change.at, partial(apply, change))
        for one, job in zip(past, jobs, strict=True):
            if job is not None:
                _begin(world, one, job)
        wanted = {id(job) for one, job in zip(past, jobs, strict=True) if job is not None and counts(self.record, one)}
        while wanted and world.now < self.record.length + LATEST and world.step():
            wanted.difference_update(map(id, world.started))
            world.started.clear()
        return [
            None
            if job is None or job.started_at is None or not counts(self.record, one)
            else max(job.started_at - job.ready_at, 0.0)
            for one, job in zip(past, jobs, strict=True)
        ]


def counts(record: Record, one: Past) -> bool:
    """Return whether a recorded job counts: it had an attempt, and became ready in the window."""
    return one.started_at is not None and 0 <= one.ready_at < record.length


def again(record: Record, books: Books) -> list[Again | None]:
    """Return the attempts as jobs of a world, each after its predecessors; None: the books lack its tenant or queue.

    A retry comes after the attempt before it; a first attempt, after the last attempts of the jobs that it waited for.
    """
    past = sorted(record.past, key=lambda attempt: attempt.ready_at)
    runs = collected(reversed(past))
    jobs = [
        _job(one, runs) if one.tenant_id in books.tenants and one.queue_id in books.queues else None
        for one in record.past
    ]
    of_job: dict[int, list[tuple[Past, Again]]] = defaultdict(list)
    for one, job in zip(record.past, jobs, strict=True):
        if job is not None:
            of_job[one.job_id].append((one, job))
    for attempts in of_job.values():
        attempts.sort(key=lambda pair: pair[0].ready_at)
    for number, attempts in of_job.items():
        first = attempts[0]
        _after(first, [of_job[other][-1] for other in record.after.get(number, ()) if other in of_job])
        for before, following in pairwise(attempts):
            _after(following, [before])
    return jobs


def _after(one: tuple[Past, Again], others: Sequence[tuple[Past, Again]]) -> None:
    """Let a job wait for others: it is ready the recorded delay after the last end among them.

    Others that had not ended by the recorded moment at which it became ready do not count.
    """
    past, job = one
    ends = [
        (was.ended_at, other) for was, other in others if was.ended_at is not None and was.ended_at <= past.ready_at
    ]
    if ends and past.left_at is None and past.ready_at > -WARM:
        job.waits_for = len(ends)
        job.delay = past.ready_at - max(ended for ended, _ in ends)
        for _, other in ends:
            other.heirs.append(job)


def _job(one: Past, runs: Runs) -> Again:
    return Again(
        place=one.place,
        tenant=one.tenant_id,
        queue=one.queue_id,
        user=one.user,
        ready_at=one.ready_at,
        seconds=_seconds(one, runs),
        follows=one.good,
    )


def _seconds(one: Past, runs: Runs) -> float:
    """Return the recorded run time; for an attempt that has not ended, the median of those like it."""
    if one.seconds is not None:
        return one.seconds
    like = runs.like(one.tenant_id, one.job_type)
    return median(like) if like else SHORTEST


def _comes(job: Again) -> bool:
    return not job.waits_for and job.ready_at > -WARM


def _begin(world: World, one: Past, job: Again) -> None:
    if job.heirs:
        job.ended = partial(_let_come, world, job.heirs)
    if one.started_at is not None and one.started_at <= -WARM:
        claimed = one.started_at if one.claimed_at is None else one.claimed_at
        ends = max(one.started_at + job.seconds, -WARM + SHORTEST)
        world.hold(job, claimed_at=claimed, started_at=one.started_at, ends_at=ends)
    elif job.ready_at <= -WARM and not job.waits_for:
        world.arrive(job)
    if one.left_at is not None:
        world.leave(job, max(one.left_at, one.ready_at + SHORTEST, SHORTEST - WARM))


def _let_come(world: World, heirs: Iterable[Again], now: float) -> None:
    for job in heirs:
        job.waits_for -= 1
        if not job.waits_for:
            job.ready_at = now + job.delay
            world.arrive(job)
