"""WSGI entry point, for servers without ASGI: each long poll then occupies a thread."""

import os

from django.core.wsgi import get_wsgi_application

from scheduler_project.checks import refuse_unsafe_start

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
refuse_unsafe_start()
application = get_wsgi_application()
