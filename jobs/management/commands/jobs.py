"""`manage.py jobs`: in a project that is not set up yet, it can only report what is missing."""

from django.apps import apps

if apps.is_installed("tenants"):
    from jobs.management.operators import Command
else:
    from jobs.management.installing.command import Command  # type: ignore[assignment]

__all__ = ["Command"]
