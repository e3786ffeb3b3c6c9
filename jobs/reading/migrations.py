"""Compare the migrations of this release with those that the database has."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from plumbing.names import OURS, named


def open_migrations() -> list[str]:
    """Return the migrations of our apps that the database lacks, such as "jobs.0002_flows"."""
    lacking = _of_release() - MigrationRecorder(connection).applied_migrations().keys()
    return sorted(f"{app}.{name}" for app, name in lacking)


@cache  # a release does not change while it runs
def _of_release() -> frozenset[tuple[str, str]]:
    """Return the migrations of this release, by app and file name.

    A loader of Django would import the migrations of all apps of the project.
    """
    homes = {app: MigrationLoader.migrations_module(app)[0] for app in map(named, OURS)}
    return frozenset(
        (app, file.name)
        for app, home in homes.items()
        if home is not None  # MIGRATION_MODULES of a project's tests
        for file in iter_modules(import_module(home).__path__)
        if not file.name.startswith("_")
    )
