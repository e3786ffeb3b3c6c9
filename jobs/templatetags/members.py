"""`{% load members %}`: Django looks for tags here."""

from jobs.portal.members.tags import register

__all__ = ["register"]
