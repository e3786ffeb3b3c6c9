"""Announce each death once, by a signal in the process that buried the job."""

from jobs.engine.process import runtime
from jobs.signals import job_died


def tell(job_id: int, attempt: int) -> None:
    """Send `job_died`. Django logs the exceptions of receivers, which stop nothing."""
    job_died.send_robust(sender=None, job_id=job_id, attempt=attempt)


def announce(job_id: int, attempt: int) -> None:
    """Announce that a job has died, by the announcer of this process if it has one."""
    (runtime.current().announcer or tell)(job_id, attempt)
