"""Our migrations run in the transaction that adds a tenant with a schema of its own (django-tenants)."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

OURS = ("jobs", "tenants")


class Elsewhere:
    """The router of django-tenants, in the schema of a tenant: what all tenants share has its tables in another one."""

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool | None:
        return False if app_label in OURS else None


@pytest.mark.django_db
def test_a_tenant_with_a_schema_of_its_own_is_added_in_a_transaction(settings) -> None:
    settings.DATABASE_ROUTERS = [Elsewhere()]
    executor = MigrationExecutor(connection)
    state = executor._create_project_state()
    for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes(), clean_start=True):
        if migration.app_label not in OURS:
            state = migration.mutate_state(state, preserve=False)
            continue
        with connection.schema_editor(atomic=migration.atomic) as editor:
            state = migration.apply(state, editor)
