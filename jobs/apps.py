"""The Django app: connect the audit log and the carrier of messages, create the default queue."""

from typing import Any

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS
from django.db.models.signals import post_migrate

from tenants.names import named


class JobsConfig(AppConfig):
    name = "jobs"
    label = named("jobs")
    default_auto_field = "django.db.models.BigAutoField"  # whatever the project's is: our migrations say so
    verbose_name = "Work"

    def ready(self) -> None:
        from jobs.checks import bodies, databases  # noqa: F401 - their checks register themselves
        from jobs.engine import runtime
        from jobs.models import PausedJobType, Queue, Schedule
        from jobs.worker import message
        from tenants import audit

        audit.watch(Queue)
        audit.watch(PausedJobType)
        audit.watch(Schedule)

        runtime.change(carrier=message.hand_over)
        post_migrate.connect(create_default_queue, sender=self)


def create_default_queue(using: str, **_: Any) -> None:
    """After migrate, create the queue "default": a @job without a queue uses it."""
    from jobs import store

    if using == DEFAULT_DB_ALIAS:
        store.create_queue("default")
