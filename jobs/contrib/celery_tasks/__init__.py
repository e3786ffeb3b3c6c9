"""Move a project's Celery tasks here: run them as jobs (`as_job`), or only watch them (`record`) first.

docs/from-celery.md is the guide.
"""

from typing import TYPE_CHECKING

from jobs import lazily

if TYPE_CHECKING:
    from jobs.contrib.celery_tasks.shadow import record
    from jobs.contrib.celery_tasks.task import JobTask, as_job

__all__ = ["JobTask", "as_job", "record"]

# A project that only watches has none of our apps installed, and its Celery app is made before any model is imported.
__getattr__ = lazily(
    __name__, {"jobs.contrib.celery_tasks.task": ("JobTask", "as_job"), "jobs.contrib.celery_tasks.shadow": ("record",)}
)
