"""Jobs go on while a release's migrations run (docs/upgrading.md)."""

import pytest
from django.db import connection
from django.db.migrations import AddIndex, CreateModel
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from jobs.migrations._operations import AddIndexBeside
from tenants.migrations._operations import WAIT_BRIEFLY

OURS = ("jobs", "tenants")


def test_an_index_on_jobs_is_made_beside_those_that_run_and_no_change_of_a_table_waits_long() -> None:
    migrations = [
        one for (app, _), one in MigrationLoader(None).disk_migrations.items() if app in OURS and not one.initial
    ]
    changes = [
        one for one in migrations if one.atomic and not all(isinstance(step, CreateModel) for step in one.operations)
    ]
    assert [one.name for one in changes if one.operations[0] is not WAIT_BRIEFLY] == []
    later = [step for one in migrations if one.app_label == "jobs" for step in one.operations]
    indexes = [step for step in later if isinstance(step, AddIndex) and step.model_name_lower == "job"]
    assert len(indexes) >= 5
    assert [one.index.name for one in indexes if not isinstance(one, AddIndexBeside)] == []


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
