"""The admin's pages of jobs: Django looks for them here."""

from django.apps import apps

if apps.is_installed("tenants"):  # else `jobs.E024` tells
    from jobs.console import admin  # noqa: F401 - its pages register themselves
