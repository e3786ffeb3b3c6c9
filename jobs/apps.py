from django.apps import AppConfig
from django.db.models.signals import post_migrate, post_save


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Work"

    def ready(self) -> None:
        from jobs import tasks, wiring
        from jobs.engine import dispatch
        from jobs.models import PausedJobType, Queue
        from tenants import audit

        audit.watch(Queue)
        audit.watch(PausedJobType)

        dispatch.connect(tasks.hand_over)
        post_migrate.connect(wiring.create_default_queue, sender=self)
        post_save.connect(wiring.dispatch_after_limit_change, sender="tenants.TenantQueue")
        post_save.connect(wiring.dispatch_after_limit_change, sender="jobs.Queue")
