"""`{% load jobs_ops %}`: Django looks for tags here."""

from jobs.console.ops.tags import register

__all__ = ["register"]
