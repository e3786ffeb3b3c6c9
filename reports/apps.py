from typing import Any

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS
from django.db.models.signals import post_migrate


class ReportsConfig(AppConfig):
    name = "reports"

    def ready(self) -> None:
        post_migrate.connect(create_queue, sender=self)


def create_queue(using: str, **_: Any) -> None:
    """Create the queue of the reports' jobs; keep the changes of operators."""
    from jobs import store

    if using == DEFAULT_DB_ALIAS:
        store.create_queue("reports")
