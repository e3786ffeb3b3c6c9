"""Move a project's Celery tasks here: run them as jobs (`as_job`), or only watch them (`record`) first.

docs/from-celery.md is the guide.
"""

from jobs.from_celery.shadow import record
from jobs.from_celery.task import JobTask, as_job

__all__ = ["JobTask", "as_job", "record"]
