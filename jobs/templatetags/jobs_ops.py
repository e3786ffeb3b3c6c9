"""`{% load jobs_ops %}`: Django looks for tags here."""

from jobs.console.ops.shared.tags import register

__all__ = ["register"]
