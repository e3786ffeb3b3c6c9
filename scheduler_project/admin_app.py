"""Django's admin, as an app that imports its pages late: a worker shows none, and would start a third slower."""

from typing import Any

from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class AdminConfig(SimpleAdminConfig):
    """user_admin.py imports the pages, for the addresses, and so does the check of them."""

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_pages, checks.Tags.admin)


def check_pages(app_configs: Any = None, **kwargs: Any) -> list[checks.CheckMessage]:
    autodiscover()
    return check_admin_app(app_configs, **kwargs)
