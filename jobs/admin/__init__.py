"""The operators' pages: queues are edited, jobs and workers are only looked at."""

from jobs.admin import jobs, queues, workers

__all__ = ["jobs", "queues", "workers"]
