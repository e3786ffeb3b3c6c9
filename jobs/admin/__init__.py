"""The operators' pages: edit queues and schedules, pause job types, revive dead letters, read jobs and workers."""

from jobs.admin import dead, jobs, paused, queues, schedules, slots, workers

__all__ = ["dead", "jobs", "paused", "queues", "schedules", "slots", "workers"]
