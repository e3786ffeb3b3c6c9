"""The app `tenants`. At its start, checks, receivers and the audit log register themselves."""

from importlib.util import find_spec
from pathlib import Path

from django.apps import AppConfig, apps
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import request_started
from django.db import DEFAULT_DB_ALIAS
from django.db.migrations.loader import MigrationLoader
from django.db.models.signals import pre_migrate

# Python looks into the project's folder first. jobs/apps.py makes the same check of the package `tenants`.
if theirs := next(
    (
        spec
        for spec in map(find_spec, ("jobs", "plumbing"))
        if spec and Path(spec.origin or "").parents[1:2] != Path(__file__).parents[1:2]
    ),
    None,
):
    raise ImproperlyConfigured(
        f"The package `{theirs.name}` is the project's own, {theirs.origin}, and hides that of the library. Move it "
        f"below a package of the project, such as mysite.{theirs.name}, keep its label, and set JOBS_PREFIX: "
        "docs/own-project.md#names"
    )
from plumbing.faults import NOT_POSTGRESQL, POSTGRESQL_HINT, on_postgresql
from plumbing.names import OURS, named


class TenantsConfig(AppConfig):
    name = "tenants"
    label = named("tenants")
    default_auto_field = "django.db.models.BigAutoField"  # as in our migrations, whatever the project's default is

    def ready(self) -> None:
        from django.contrib.auth import get_user_model

        from plumbing.connections import drop_cut_connections
        from tenants import checks, logins, models, watched_rows  # noqa: F401 - checks and receivers register themselves
        from tenants.mirror import mirrored_model, watch
        from tenants.tenant_model import get_tenant_model, give_names

        give_names(get_tenant_model())
        if model := mirrored_model():
            watch(model)
        request_started.connect(drop_cut_connections)
        pre_migrate.connect(refuse_another_database)
        pre_migrate.connect(refuse_tables_without_migrations)
        for model in (
            get_tenant_model(),
            models.TenantQueue,
            models.Member,
            models.ApiKey,
            models.OperatorKey,
            get_user_model(),
        ):
            watched_rows.watch(model)
        if apps.is_installed("django.contrib.auth"):  # a project may have its own, and the label is taken then
            from django.contrib.auth.models import Group

            watched_rows.watch(Group)


def refuse_another_database(sender: AppConfig, using: str, **_: object) -> None:
    """Refuse a default database that is not PostgreSQL. Runs before migrate, since tests migrate without the checks.

    Raises ImproperlyConfigured: the error of a statement would not name the cause.
    """
    if sender.name in OURS and using == DEFAULT_DB_ALIAS and not on_postgresql():
        raise ImproperlyConfigured(f"{NOT_POSTGRESQL} {POSTGRESQL_HINT} (jobs.E001)")


def refuse_tables_without_migrations(sender: AppConfig, **_: object) -> None:
    """Refuse tables made from models alone: they would lack our functions, triggers and partitions. Before migrate.

    Raises ImproperlyConfigured if a project, or `pytest --nomigrations`, has switched our migrations off.
    """
    if sender.name in OURS and MigrationLoader.migrations_module(sender.label)[0] is None:
        raise ImproperlyConfigured(
            f"MIGRATION_MODULES switches the migrations of {sender.label!r} off, as pytest's --nomigrations does, and "
            "models lack what they make. Instead name only your own apps: MIGRATION_MODULES = {'shop': None}."
        )
