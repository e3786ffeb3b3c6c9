"""The operators' pages: queues and schedules are edited, job types paused, letters revived; the rest is looked at."""

from jobs.admin import dead, jobs, paused, queues, schedules, slots, workers

__all__ = ["dead", "jobs", "paused", "queues", "schedules", "slots", "workers"]
