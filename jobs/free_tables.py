"""A check before the first `migrate`: no table of the project may have a name of ours.

Django itself compares only the models of the project (`models.E028`), not what else the database holds.
"""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.recorder import MigrationRecorder


@register(Tags.database)
def free_tables(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    connection = connections[DEFAULT_DB_ALIAS]
    migrated = {app for app, _name in MigrationRecorder(connection).applied_migrations()}
    there = set(connection.introspection.table_names())
    return [
        Error(
            f"There is a table {model._meta.db_table!r} already, and it is not ours.",
            hint="Rename that table: the scheduler's tables have fixed names (docs/own-project.md).",
            obj=model,
            id="jobs.E009",
        )
        for label in ("jobs", "tenants")
        if label not in migrated
        for model in apps.get_app_config(label).get_models()
        if model._meta.managed and not model._meta.proxy and model._meta.db_table in there
    ]
