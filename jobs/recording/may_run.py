"""Find the jobs that lack only a process, in several looks.

One look is not enough: a job that got a slot a moment ago is about to be claimed. The recorder remembers the jobs of
its last look. For each pool it notes the jobs that no process has taken in time, in the column `late` of `recorded`. A
new recorder notes none until it has known jobs for APART seconds.
"""

from datetime import datetime

from django.db import transaction

from jobs.recording.statements import begin_task, end_task, may_run

TASK = "may run"
APART = 5.0  # seconds that a job must have been known to lack only a process, to be late
MOST = 200  # the most jobs that are remembered

Seen = dict[tuple[int, datetime], tuple[datetime, int]]  # by job and ready_at: since when it may run, idle looks


class MayRun:
    """The jobs that the last look found."""

    def __init__(self) -> None:
        self._seen: Seen = {}

    @transaction.atomic
    def look(self) -> None:
        """Note the late jobs of each pool.

        jobs: their number
        seconds: the seconds since the first of them could run
        idle_looks: the looks in a row that found one of them beside an idle process

        One such look proves nothing: in a busy pool a process is idle for a moment after each job. A job that ran since
        the last look, and is ready again, counts as a new one.
        """
        _, now = begin_task(TASK, APART)
        found = may_run([job for job, _ in self._seen])
        found.sort(key=lambda one: one[:2] not in self._seen)
        seen: Seen = {}
        late: dict[str, dict[str, float]] = {}
        for job, ready_at, pool, idle in found[:MOST]:
            since, looks = self._seen.get((job, ready_at), (now, 0))
            looks = looks + 1 if idle else 0
            seen[job, ready_at] = since, looks
            seconds = (now - since).total_seconds()
            if seconds >= APART:
                of = late.setdefault(pool, {"jobs": 0, "seconds": 0.0, "idle_looks": 0})
                of["jobs"] += 1
                of |= {"seconds": max(of["seconds"], seconds), "idle_looks": max(of["idle_looks"], looks)}
        end_task(TASK, now, late=late)
        self._seen = seen
