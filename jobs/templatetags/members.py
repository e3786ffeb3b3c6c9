"""`{% load members %}`: Django looks for tags here."""

from jobs.members.tags import register

__all__ = ["register"]
