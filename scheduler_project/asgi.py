"""ASGI entry point: `uvicorn scheduler_project.asgi:application` (long polls need it)."""

import os

from django.core.asgi import get_asgi_application

from scheduler_project.checks import refuse_unsafe_start

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
refuse_unsafe_start()
application = get_asgi_application()
