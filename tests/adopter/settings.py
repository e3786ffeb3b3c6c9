"""The settings of the tests, with the tenant model of a project that somebody else wrote."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, INSTALLED_APPS, TEMPLATES

INSTALLED_APPS = ["tests.adopter.apps.Shop", *(app for app in INSTALLED_APPS if app not in ("reports", "jobs.insight"))]
JOBS_TENANT_MODEL = "shop.Shop"
JOBS_TENANT_NAME = "title"
JOBS_TENANT_SLUG = "string_id"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
ROOT_URLCONF = "tests.adopter.urls"
TEMPLATES[0]["DIRS"] = []  # those of the repository's own project
DATABASES["default"]["TEST"] = {"NAME": f"test_adopter_{os.getpid()}"}  # beside that of the tests that run this
