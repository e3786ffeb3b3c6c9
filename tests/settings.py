"""The project's settings, and an app of jobs that crash, hang, fail and wait on demand."""

import os

from scheduler_project.settings import *  # noqa: F403
from scheduler_project.settings import CACHES, CELERY_BROKER_URL, INSTALLED_APPS
from tests.beside import own_databases

INSTALLED_APPS = [*INSTALLED_APPS, "tests.sample"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Also of the workers and web servers that a test starts: they inherit the variable.
if process := os.environ.get("PYTEST_XDIST_WORKER"):
    CACHE = CACHES["default"]
    CELERY_BROKER_URL, CACHE["LOCATION"] = own_databases(process, CELERY_BROKER_URL, CACHE["LOCATION"])
    os.environ["CELERY_BROKER_URL"] = CELERY_BROKER_URL  # Celery itself reads this, and no setting
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = float(os.environ.get("SAMPLE_SOFT_SHUTDOWN", "0"))
JOBS_API_RATE = 0  # one process does all the asking
LOGIN_FAILURES = 1000

# Read by django.tasks (Django 6) and by django-tasks, if one is there.
OPTIONS = {"tenant": "tests.integration.django_tasks.conftest.owner"}
TASKS = {"default": {"BACKEND": "jobs.contrib.django_tasks.JobsBackend", "QUEUES": [], "OPTIONS": OPTIONS}}
