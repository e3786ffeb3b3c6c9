"""A backend for Django's tasks: `TASKS = {"default": {"BACKEND": "jobs.contrib.django_tasks.JobsBackend"}}`.

For `django.tasks` of Django 6, and for the package `django-tasks` on earlier ones. docs/django-tasks.md is the guide.
"""

from jobs.contrib.django_tasks.backend import JobsBackend

__all__ = ["JobsBackend"]
