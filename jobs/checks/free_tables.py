"""Checks before the first `migrate`: no table of the project may have a name of ours, and no other prefix be in use.

Django itself compares only the models of the project (`models.E028`), not what else the database holds.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.recorder import MigrationRecorder

from tenants.names import OURS, PREFIX, named

OURS_ALONE = "freed_slots"  # a table that no other app has

Migrations = Collection[tuple[str, str]]  # app and name


@register(Tags.database)
def free_tables(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    connection = connections[DEFAULT_DB_ALIAS]
    applied = MigrationRecorder(connection).applied_migrations().keys()
    there = connection.introspection.table_names()
    return [*_tables_of_others(applied, there), *_another_prefix(there)]


def _tables_of_others(applied: Migrations, there: Collection[str]) -> Iterator[CheckMessage]:
    for label in set(map(named, OURS)) - {app for app, _ in applied}:
        for model in apps.get_app_config(label).get_models():
            if model._meta.managed and not model._meta.proxy and model._meta.db_table in there:
                yield Error(
                    f"There is a table {model._meta.db_table!r} already, and it is not ours.",
                    hint='Set JOBS_PREFIX, for example to "scheduler_", before the first migrate.',
                    obj=model,
                    id="jobs.E009",
                )


def _another_prefix(there: Collection[str]) -> Iterator[CheckMessage]:
    """Under a new one `migrate` would make a second set of tables, without a job."""
    former = {table.removesuffix(OURS_ALONE) for table in there if table.endswith(OURS_ALONE)}
    if former and PREFIX not in former:
        before = " or ".join(map(repr, sorted(former)))
        yield Error(
            f"JOBS_PREFIX is {PREFIX!r}, but the jobs of this database were made under {before}.",
            hint=f"Set it to {before}: it cannot be changed after the first migrate.",
            id="jobs.E014",
        )
