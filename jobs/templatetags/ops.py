"""`{% load ops %}`: Django looks for tags here."""

from jobs.dashboard.tags import register

__all__ = ["register"]
