"""Deaths: each is announced once, by a signal, to the process that buried the job."""

from collections.abc import Callable

from jobs.signals import job_died

Announce = Callable[[int, int], object]


def tell(job_id: int, attempt: int) -> None:
    """Send `job_died`. A receiver that raises is logged by Django and stops nobody."""
    job_died.send_robust(sender=None, job_id=job_id, attempt=attempt)


_announce: Announce = tell


def announce_by(somebody: Announce | None) -> None:
    """Say who sends the signal; None: whoever buries the job, before it goes on."""
    global _announce  # noqa: PLW0603 - wired once, when a worker starts
    _announce = somebody or tell


def announce(job_id: int, attempt: int) -> None:
    """A job has died."""
    _announce(job_id, attempt)
