"""Whether the database has the schema of this release."""

from functools import cache

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from tenants.names import OURS, named


def open_migrations() -> list[str]:
    """Of our apps, those that the database lacks: "jobs.0002_flows"."""
    lacking = _of_release() - MigrationRecorder(connection).applied_migrations().keys()
    return sorted(f"{app}.{name}" for app, name in lacking)


@cache  # a release does not change while it runs
def _of_release() -> frozenset[tuple[str, str]]:
    ours = {named(app) for app in OURS}
    return frozenset(key for key in MigrationLoader(None).disk_migrations if key[0] in ours)
