"""A project without `django.contrib.auth`, whose own app has that label. No sessions, no content types, no admin."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES

INSTALLED_APPS = ["tests.own_auth.apps.OwnAuth", "django.contrib.postgres", "tenants", "jobs"]
MIDDLEWARE = [
    "django.middleware.csrf.CsrfViewMiddleware",
    "tests.own_auth.middleware.identified",
    "django.contrib.messages.middleware.MessageMiddleware",
    "tenants.logins.throttled",
    "tenants.middleware.audited",
]
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"
AUTH_USER_MODEL = "auth.Account"
AUTHENTICATION_BACKENDS = []
LOGIN_URL = "/sign-in/?by=token"
ROOT_URLCONF = "tests.friction.urls"
TEMPLATES = []
TASKS = {}
DATABASES["default"]["TEST"] = {"NAME": f"test_own_auth_{os.getpid()}"}  # beside that of the tests that run this
