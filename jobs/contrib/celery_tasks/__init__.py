"""A Celery task as a job of a tenant: its callers stay as they are. docs/from-celery.md is the guide."""

from jobs.contrib.celery_tasks.job_task import JobTask, as_job

__all__ = ["JobTask", "as_job"]
