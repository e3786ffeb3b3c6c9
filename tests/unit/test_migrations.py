"""Jobs go on while a release's migrations run (docs/upgrading.md)."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import AddIndex
from django.db.migrations.loader import MigrationLoader


def test_an_index_on_jobs_is_made_beside_those_that_run() -> None:
    migrations = [one for (app, _), one in MigrationLoader(None).disk_migrations.items() if app == "jobs"]
    later = [step for one in migrations if not one.initial for step in one.operations]
    indexes = [step for step in later if isinstance(step, AddIndex) and step.model_name_lower == "job"]
    assert len(indexes) >= 5
    assert [one.index.name for one in indexes if not isinstance(one, AddIndexConcurrently)] == []
