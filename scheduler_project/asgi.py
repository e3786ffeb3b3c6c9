"""ASGI entry point: `uvicorn scheduler_project.asgi:application` (long polls need it)."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
application = get_asgi_application()
