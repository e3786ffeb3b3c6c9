"""The app: what is noted, how messages are sent, and the default queue."""

from typing import Any

from django.apps import AppConfig
from django.apps.registry import Apps
from django.db.models.signals import post_migrate


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


def create_default_queue(using: str, apps: Apps, **_: Any) -> None:
    """After migrate, also after one to an earlier schema: @job without a queue means "default", so it exists."""
    if "queue" in apps.all_models["jobs"]:
        apps.get_model("jobs", "Queue").objects.using(using).get_or_create(name="default")
