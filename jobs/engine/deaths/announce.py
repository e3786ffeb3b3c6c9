"""Announce each death once, by a signal in the process that buried the job."""

from collections.abc import Callable

from jobs.signals import job_died

Announce = Callable[[int, int], object]


def tell(job_id: int, attempt: int) -> None:
    """Send `job_died`. Django logs the exceptions of receivers, which stop nothing."""
    job_died.send_robust(sender=None, job_id=job_id, attempt=attempt)


_announce: Announce = tell


def announce_by(somebody: Announce | None) -> None:
    """Set the function that sends the signal; None: the thread that buries the job sends it itself."""
    global _announce  # noqa: PLW0603 - wired once, when a worker starts
    _announce = somebody or tell


def announce(job_id: int, attempt: int) -> None:
    """Announce that a job has died."""
    _announce(job_id, attempt)
