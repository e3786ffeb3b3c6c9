"""The operators' pages: queues are edited, job types paused, dead letters revived; jobs and workers are looked at."""

from jobs.admin import dead, jobs, paused, queues, slots, workers

__all__ = ["dead", "jobs", "paused", "queues", "slots", "workers"]
