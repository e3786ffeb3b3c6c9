"""The settings of the tests, with the tenant model of a project that somebody else wrote."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, INSTALLED_APPS, TEMPLATES

LEFT_OUT = ("reports", "jobs.insight")
OTHERWISE = {"scheduler_project.admin_app.AdminConfig": "django.contrib.admin"}
OURS = [OTHERWISE.get(app, app) for app in INSTALLED_APPS if app not in LEFT_OUT]
INSTALLED_APPS = ["tests.adopter.apps.Shop", *OURS]
JOBS_TENANT_MODEL = "shop.Shop"
JOBS_TENANT_NAME = "title"
JOBS_TENANT_SLUG = "string_id"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
ROOT_URLCONF = "tests.adopter.urls"
TEMPLATES[0]["DIRS"] = []  # those of the repository's own project
DATABASES["default"]["TEST"] = {"NAME": f"test_adopter_{os.getpid()}"}  # beside that of the tests that run this
