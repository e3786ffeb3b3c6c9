"""A project as others have it: what was in the way in real ones, all at once.

No admin, users without `is_staff`, Jinja alone in TEMPLATES, keys of 32 bit, a cache that only the
process itself can read, database sessions as Django makes them, psycopg2 beside psycopg, pickled tasks, tenants with
UUIDs, memberships.
"""

import os

import environ

from tests.settings import *  # noqa: F403
from tests.settings import CACHES, DATABASES, env

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
JOBS_TENANT_MIRROR = "friction.Workspace"
JOBS_TENANT_NAME, JOBS_TENANT_SLUG = "title", "id"
JOBS_MEMBERSHIP = "tests.friction.models.workspace_of"
CELERY_ACCEPT_CONTENT = ["pickle"]
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "pickle"
DATABASES["default"]["OPTIONS"] = environ.Env.db_url_config(env.str("DATABASE_URL")).get("OPTIONS", {})
DATABASES["default"]["TEST"] = {"NAME": f"test_friction_{os.getpid()}"}  # beside that of the tests that run this
