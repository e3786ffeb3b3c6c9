"""The records that operators edit, memories and the audit log. What happens now is under `/ops/`."""

from jobs.console.admin import changes, memories, pools, queues, schedules, slots

__all__ = ["changes", "memories", "pools", "queues", "schedules", "slots"]
