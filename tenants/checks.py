"""System checks of the tenant model, whose table statements join and tables of ours point to, and of logins."""

import math
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.exceptions import FieldDoesNotExist
from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState

from tenants.conf import TENANT_MODEL, login_failures
from tenants.names import named

TAG = "tenants"
NEEDED = {
    "id": "id = models.BigAutoField(primary_key=True)",
    "name": "name = models.CharField(max_length=200)",
    "slug": "slug = models.SlugField(unique=True)",
}


@register(Tags.models)
def tenant_model(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    try:
        model = apps.get_model(TENANT_MODEL)
    except (LookupError, ValueError):
        hint = 'Set JOBS_TENANT_MODEL to "app.Model", the name of an installed model; or unset it.'
        return [Error(f"JOBS_TENANT_MODEL is {TENANT_MODEL!r}: there is no such model.", hint=hint, id="tenants.E001")]
    return [
        Error(
            f"The tenant model {TENANT_MODEL} has no fitting column {name!r}.",
            hint=f"Add it: {needed}; or inherit from tenants.models.AbstractTenant.",
            obj=model,
            id="tenants.E002",
        )
        for name, needed in NEEDED.items()
        if not _fits(model, name)
    ]


@register(Tags.database)
def tenant_model_is_made_first(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Otherwise the first `migrate` ends in a ValueError: "Related model cannot be resolved"."""
    app, _dot, name = TENANT_MODEL.partition(".")
    if DEFAULT_DB_ALIAS not in (databases or ()) or app == named("tenants"):
        return []
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    applied = executor.loader.applied_migrations
    ours = (named("tenants"), "0001_initial")
    if ours in applied or app in executor.loader.unmigrated_apps:
        return []
    order = [one for one, _ in executor.migration_plan(executor.loader.graph.leaf_nodes(), clean_start=True)]
    order.sort(key=lambda one: (one.app_label, one.name) not in applied)
    state, ours_was = ProjectState(), False
    for migration in order:
        ours_was |= (migration.app_label, migration.name) == ours
        migration.mutate_state(state, preserve=False)
        if (app, name.lower()) in state.models:
            hint = f"Write in that migration: run_before = [{ours}]"
            message = f"{migration} makes the tenant model, but runs after {'.'.join(ours)}."
            return [Error(message, hint=hint, id="tenants.E004")] if ours_was else []
    hint = f"Run: manage.py makemigrations {app}"
    return [Error(f"No migration makes the tenant model {TENANT_MODEL}.", hint=hint, id="tenants.E004")]


@register(TAG)
def logins(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """With 0 nobody could log in; with NaN or infinity any number of passwords could be tried."""
    number: Any = login_failures()
    if isinstance(number, int | float) and math.isfinite(number) and number > 0:
        return []
    hint = "Set LOGIN_FAILURES to a number greater than 0, or unset it."
    return [Error(f"LOGIN_FAILURES is {number!r}.", hint=hint, id="tenants.E003")]


def _fits(model: type[models.Model], name: str) -> bool:
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    if getattr(field, "column", None) != name:
        return False
    if name == "id":
        return isinstance(field, models.BigIntegerField | models.BigAutoField) and field.primary_key
    return name != "slug" or bool(getattr(field, "unique", False))
