"""The admin's pages of jobs: Django looks for them here."""

from django.apps import apps

if apps.is_installed("tenants"):  # else the check `jobs.E024` reports it
    from jobs.console import admin  # noqa: F401 - its pages register themselves
