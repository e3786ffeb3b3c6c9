"""Deaths: each is announced once, by a signal, to the process that buried the job."""

from jobs.signals import job_died


def announce(job_id: int, attempt: int) -> None:
    """Send `job_died`. A receiver that raises is logged by Django and stops nobody."""
    job_died.send_robust(sender=None, job_id=job_id, attempt=attempt)
