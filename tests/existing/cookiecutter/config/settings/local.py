from .base import *  # noqa: F403

DEBUG = True
SECRET_KEY = "local"
ALLOWED_HOSTS = ["localhost"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": ""}}
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
