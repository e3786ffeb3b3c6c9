"""A project whose database has tables with names of ours hears it before the first migrate."""

import os
import subprocess
import sys

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db.migrations.recorder import MigrationRecorder

from embedded import REPOSITORY
from tests.sql import sql

pytestmark = pytest.mark.django_db


def found() -> list[str]:
    """What is said of the tables `jobs` and `queues`."""
    every = run_checks(tags=["database"], databases=["default"])
    assert "jobs.E029" not in [one.id for one in every]
    return sorted(one.msg.split("'")[1] for one in every if one.id == "jobs.E009")


def test_our_own_tables_are_no_collision() -> None:
    assert found() == []


def test_a_table_of_somebody_else_is_named_before_the_first_migrate() -> None:
    MigrationRecorder.Migration.objects.filter(app="jobs").delete()
    names = found()
    assert {"jobs", "queues", "workers"} <= set(names)
    assert "tenant_queues" not in names  # the migrations of that app are applied
    sql("ALTER TABLE queues RENAME TO shop_queues")
    assert set(names) - set(found()) == {"queues"}


def test_another_prefix_than_before_is_refused_and_another_scheduler_in_the_same_database() -> None:
    """The one would leave the jobs behind, in tables that nobody reads; the other would have no clock, or take ours."""
    sql("CREATE SCHEMA staging")
    sql("CREATE TABLE staging.freed_slots ()")
    sql("ALTER TABLE freed_slots RENAME TO scheduler_freed_slots")
    every = run_checks(tags=["database"], databases=["default"])
    assert ["in the schema staging" in one.msg for one in every if one.id == "jobs.E029"] == [True]
    [refused] = [one for one in every if one.id == "jobs.E014"]
    assert "'scheduler_'" in refused.msg
    assert "'scheduler_'" in refused.hint


@pytest.mark.parametrize("apps", [["jobs"], ["jobs", "tenants", "sample"]], ids="+".join)
def test_without_our_migrations_migrate_says_what_to_set_instead(settings, apps) -> None:
    """PostgreSQL would miss a function, in the middle of it."""
    settings.MIGRATION_MODULES = dict.fromkeys(apps)
    with pytest.raises(ImproperlyConfigured, match=r"'(jobs|tenants)' off.* {'shop': None}"):
        call_command("migrate", run_syncdb=True, verbosity=0)


def test_a_project_may_leave_its_own_migrations_out(settings) -> None:
    settings.MIGRATION_MODULES = {"sample": None}
    call_command("migrate", run_syncdb=True, verbosity=0)


def test_on_another_database_migrate_says_what_the_check_would(tmp_path) -> None:
    other = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
    (tmp_path / "elsewhere.py").write_text(f"from tests.settings import *\nDATABASES = {other}\n")
    environ = os.environ | {"PYTHONPATH": f"{tmp_path}:{REPOSITORY}", "DJANGO_SETTINGS_MODULE": "elsewhere"}
    argv = [sys.executable, "manage.py", "migrate", "--skip-checks"]  # as tests make their database
    ran = subprocess.run(argv, cwd=REPOSITORY, env=environ, capture_output=True, text=True, timeout=200, check=False)
    assert ran.returncode
    assert "ImproperlyConfigured: The database is not PostgreSQL. Jobs need PostgreSQL" in ran.stderr
