"""ASGI entry point: `python -m scheduler_project.web`, or any ASGI server."""

import os

import django
from django.conf import settings

from scheduler_project import tracing
from scheduler_project.checks import refuse_unsafe_start

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
refuse_unsafe_start()
django.setup(set_prefix=False)

from jobs import dispatch_in_background  # noqa: E402 - Django has to be set up first
from scheduler_project.handler import ThreadedHandler  # noqa: E402

tracing.send()
dispatch_in_background("direct" if "direct" in settings.DATABASES else None)
application = ThreadedHandler(settings.WEB_THREADS or 10)
