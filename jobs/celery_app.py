"""The Celery app that carries jobs: the one that `jobs.celery.configure` was called with. Imports nothing of Django."""

from celery import Celery, current_app

_configured: list[Celery] = []


def carry_jobs_by(app: Celery) -> None:
    """Let this app send the messages of this process from now on, whichever app is Celery's current one."""
    _configured[:] = [app]


def celery_app() -> Celery:
    """The app; Celery's current one as long as none is configured, which `jobs.E005` then refuses."""
    return _configured[0] if _configured else current_app


def is_configured() -> bool:
    return bool(_configured)
