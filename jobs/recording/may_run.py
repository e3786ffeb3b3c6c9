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

Known = dict[tuple[int, datetime], tuple[datetime, int]]  # by job and ready_at: since when it may run, idle looks


class MayRun:
    """The jobs that the last look found."""

    def __init__(self) -> None:
        self._known: Known = {}

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
        rows = may_run([job for job, _ in self._known])
        rows.sort(key=lambda row: row[:2] not in self._known)
        known: Known = {}
        late: dict[str, dict[str, float]] = {}
        for job, ready_at, pool, idle in rows[:MOST]:
            since, looks = self._known.get((job, ready_at), (now, 0))
            looks = looks + 1 if idle else 0
            known[job, ready_at] = since, looks
            seconds = (now - since).total_seconds()
            if seconds >= APART:
                row = late.setdefault(pool, {"jobs": 0, "seconds": 0.0, "idle_looks": 0})
                row["jobs"] += 1
                row |= {"seconds": max(row["seconds"], seconds), "idle_looks": max(row["idle_looks"], looks)}
        end_task(TASK, now, late=late)
        self._known = known
