"""Which jobs only lack a process, look after look: one that was given a slot just now is about to be claimed.

The recorder remembers what it found; for whoever asks it notes, of each pool, what a process did not take in time. A
recorder that begins knows of nothing for some looks.
"""

from datetime import datetime

from django.db import transaction

from jobs.recording.statements import begin_task, end_task, may_run

TASK = "may run"
APART = 5.0  # seconds between the two looks that find the same job
MOST = 200  # jobs that are remembered

Seen = dict[tuple[int, datetime], tuple[datetime, int]]  # a job, ready since; may run since, idle looks


class MayRun:
    """What the last look found."""

    def __init__(self) -> None:
        self._seen: Seen = {}

    @transaction.atomic
    def look(self) -> None:
        """Note the late jobs of each pool: their number, the seconds since the first could run, and how many looks in
        a row found one of them beside an idle process: in a busy pool one is idle for a moment after each job.

        A job that ran since it was seen, and is ready again, is another one.
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
