"""The settings of the tests, with two apps of a project that names its own like ours."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, INSTALLED_APPS

INSTALLED_APPS = ["tests.prefixed.tenants.apps.Theirs", "tests.prefixed.jobs.apps.Theirs", *INSTALLED_APPS]
JOBS_PREFIX = "scheduler_"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"  # as most projects of some age have it
DATABASES["default"]["TEST"] = {"NAME": f"test_prefixed_{os.getpid()}"}  # beside that of the tests that run this
