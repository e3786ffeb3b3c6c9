"""A project as others have it: what was in the way in real ones, all at once.

No admin, users without `is_staff`, Jinja alone in TEMPLATES, keys of 32 bit, a cache that only the
process itself can read.
"""

import os

from tests.settings import *  # noqa: F403
from tests.settings import CACHES, DATABASES

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "tests.friction",
    "tests.sample",
    "tenants",
    "jobs",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "tenants.logins.throttled",
    "tenants.middleware.audited",
]
ROOT_URLCONF = "tests.friction.urls"
AUTH_USER_MODEL = "friction.Person"
LOGIN_URL = "/sign-in/"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}, "jobs": CACHES["default"]}
JOBS_CACHE = "jobs"
TEMPLATES = [{"BACKEND": "tests.friction.jinja.Jinja", "APP_DIRS": True}]
DATABASES["default"]["TEST"] = {"NAME": f"test_friction_{os.getpid()}"}  # beside that of the tests that run this
