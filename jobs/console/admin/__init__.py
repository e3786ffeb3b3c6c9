"""The operators' pages: edit queues and schedules, pause job types, revive dead jobs, clear memories, read the rest."""

from jobs.console.admin import changes, dead, jobs, memories, paused, queues, schedules, slots, workers

__all__ = ["changes", "dead", "jobs", "memories", "paused", "queues", "schedules", "slots", "workers"]
