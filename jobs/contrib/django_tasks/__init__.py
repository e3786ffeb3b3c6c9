"""A backend for Django's tasks: `TASKS = {"default": {"BACKEND": "jobs.contrib.django_tasks.JobsBackend"}}`.

It serves `django.tasks` of Django 6, and the package `django-tasks` on earlier versions. The guide is
docs/django-tasks.md.
"""

from jobs.contrib.django_tasks.backend import JobsBackend

__all__ = ["JobsBackend"]
