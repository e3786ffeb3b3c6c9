"""The app: the default queue, and dispatches that follow a change of a limit."""

from typing import Any

from django.apps import AppConfig
from django.db.models import Model
from django.db.models.signals import post_migrate, post_save


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Work"

    def ready(self) -> None:
        from jobs import tasks
        from jobs.engine import dispatch
        from jobs.models import PausedJobType, Queue
        from tenants import audit

        audit.watch(Queue)
        audit.watch(PausedJobType)

        dispatch.connect(tasks.hand_over)
        post_migrate.connect(create_default_queue, sender=self)
        post_save.connect(dispatch_after_limit_change, sender="tenants.TenantQueue")
        post_save.connect(dispatch_after_limit_change, sender="jobs.Queue")


def create_default_queue(using: str, **_: Any) -> None:
    """After migrate: @job without a queue means "default", so it exists."""
    from jobs.models import Queue

    Queue.objects.using(using).get_or_create(name="default")


def dispatch_after_limit_change(instance: Model, **_: Any) -> None:
    """A raised limit, a new queue, a resumed tenant: who waited for it goes at once, when the change commits."""
    from jobs.engine import dispatch

    dispatch.on_commit()
