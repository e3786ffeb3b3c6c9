"""Wiring only: settings, URLs, the Celery app. The behaviour is in `jobs` and `tenants`."""

from scheduler_project.celery import app as celery_app

__all__ = ["celery_app"]
