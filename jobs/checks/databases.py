"""Checks of the ways to the database, and of what it holds, once the models are loaded."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, router, transaction
from django.db.migrations.recorder import MigrationRecorder

from jobs import store
from jobs.checks import TAG, Check, on_postgresql, registered
from jobs.store.routing import is_ours
from tenants.names import OURS, PREFIX, named

OURS_ALONE = "freed_slots"  # a table that no other app has

Migrations = Collection[tuple[str, str]]  # app and name


@registered(TAG)
def routers() -> Iterator[CheckMessage]:
    """The engine's statements go to one database. A replica is late, and so is what the ORM reads there."""
    if not on_postgresql():  # the remedy would send the models there
        return
    ours = [model for model in apps.get_models() if is_ours(model)]
    used = {way(model) for model in ours for way in (router.db_for_read, router.db_for_write)}
    if used != {DEFAULT_DB_ALIAS}:
        yield Error(
            f"DATABASE_ROUTERS send the models of jobs to {', '.join(sorted(used))}.",
            hint='Begin DATABASE_ROUTERS with "jobs.store.routing.Primary".',
            id="jobs.E016",
        )


def of_the_database(check: Check) -> Check:
    """Let Django run a generator of messages when it is asked for the checks of the default database."""

    def messages(
        *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
    ) -> list[CheckMessage]:
        asked = DEFAULT_DB_ALIAS in (databases or ()) and connections[DEFAULT_DB_ALIAS].vendor == "postgresql"
        return list(check()) if asked else []

    register(messages, Tags.database)
    return check


@of_the_database
def isolation() -> Iterator[CheckMessage]:
    """Our guards look again at a row that somebody has changed meanwhile; at another level the statement fails."""
    with transaction.atomic(using=DEFAULT_DB_ALIAS):
        level = store.isolation()
    if level != "read committed":
        yield Error(
            f"Transactions are {level}, and jobs need read committed.",
            hint='Remove "isolation_level" from the OPTIONS of DATABASES["default"], and add to their "options": '
            "-c default_transaction_isolation=read\\ committed (behind a pooler: ALTER ROLE ... SET it).",
            id="jobs.E017",
        )


@of_the_database
def numbers() -> Iterator[CheckMessage]:
    """After a failover or a restore no number of a job may come again: bodies, messages and results may know it."""
    try:
        with transaction.atomic(using=DEFAULT_DB_ALIAS):
            known = store.numbers()
    except DatabaseError:  # no tables yet, a standby, or a provider that keeps from us which server it is
        return
    command = "manage.py jobs skip-numbers"
    if known.greatest is not None and known.greatest > (known.given or 0):
        told = f"The next job would get number {(known.given or 0) + 1:,}, and there is job {known.greatest:,}."
        yield Error(told, hint=f"Type: {command}", id="jobs.E018")
    elif not known.server_known:
        told = "This PostgreSQL was promoted or restored, and may give jobs numbers that others have had before."
        hint = f"Start a worker, whose clock skips numbers; or type: {command}"
        yield Warning(told, hint=hint, id="jobs.W009")


@of_the_database
def free_tables() -> Iterator[CheckMessage]:
    """Before the first `migrate`: no table of the project may have a name of ours, and no other prefix be in use.

    Django itself compares only the models of the project (`models.E028`), not what else the database holds.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    applied = MigrationRecorder(connection).applied_migrations().keys()
    there = connection.introspection.table_names()
    yield from _tables_of_others(applied, there)
    yield from _another_prefix(there)


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
