"""The project's settings, and an app of jobs that crash, hang, fail and wait on demand."""

from scheduler_project.settings import *  # noqa: F403
from scheduler_project.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.sample"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
API_RATE = 0  # one process does all the asking
LOGIN_FAILURES = 1000
