"""JOBS_PREFIX: a project with apps and tables of our names."""

import os
import re
import subprocess
import sys

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured

from embedded import REPOSITORY
from plumbing import names
from plumbing.names import OURS, with_our_names

PLAIN = re.compile(  # a name of ours that `named` or the tag `in_admin` is not asked for
    r"""has_perm\(f?["']|admin:(?:jobs|tenants)_|get_app_config\(["'](?:jobs|tenants)"""
    r"""|db_table(?: = |': )["']|\(["'](?:jobs|tenants)["'], ["']\d{4}|(?:to=|bases=\()["'](?:jobs|tenants)\."""
)


@pytest.mark.long(
    "a migration or a page that does without the prefix; what names a table or a permission is tested below"
)
def test_all_works_beside_apps_and_tables_of_the_same_names():
    """In a process of its own: the names are settled when the models are imported."""
    environ = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.prefixed.settings"}
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/prefixed/suite.py"]
    ran = subprocess.run(argv, cwd=REPOSITORY, env=environ, capture_output=True, text=True, timeout=200, check=False)
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]


def test_no_name_of_ours_is_written_without_its_prefix():
    files = [path for app in OURS for kind in ("py", "html") for path in (REPOSITORY / app).rglob(f"*.{kind}")]
    plain = {str(path.relative_to(REPOSITORY)): PLAIN.findall(path.read_text()) for path in files}
    assert {path: found for path, found in plain.items() if found} == {}


def test_every_table_of_ours_is_known_to_the_statements():
    known = set(names._TABLES.split("|"))
    ours = {m._meta.db_table for label in OURS for m in apps.get_app_config(label).get_models()}
    assert ours - known - {"tenants_tenant", "tenants_member", "tenants_operatorkey"} == set()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT id FROM jobs WHERE true", "SELECT id FROM scheduler_jobs AS jobs WHERE true"),
        ("SELECT FROM jobs)", "SELECT FROM scheduler_jobs AS jobs)"),
        ("FROM jobs j JOIN queues AS q ON q.id", "FROM scheduler_jobs j JOIN scheduler_queues AS q ON q.id"),
        ("UPDATE lanes l SET jobs = l.jobs", "UPDATE scheduler_lanes l SET jobs = l.jobs"),
        ("INSERT INTO arrivals (jobs) SELECT 1", "INSERT INTO scheduler_arrivals AS arrivals (jobs) SELECT 1"),
        ("WITH attempts AS (SELECT 1) SELECT FROM attempts", "WITH attempts AS (SELECT 1) SELECT FROM attempts"),
        ("CREATE TABLE job_history (LIKE jobs)", "CREATE TABLE scheduler_job_history (LIKE scheduler_jobs)"),
        ("SELECT extract(epoch FROM end_time), 'jobs'", "SELECT extract(epoch FROM end_time), 'jobs'"),
        ("SELECT jobs FROM other ON jobs.id = 1", "SELECT jobs FROM other ON jobs.id = 1"),
    ],
)
def test_a_table_gets_the_prefix_and_nothing_else(sql, expected, monkeypatch):
    monkeypatch.setattr(names, "PREFIX", "scheduler_")
    assert with_our_names(sql) == expected


def test_without_a_prefix_nothing_changes():
    assert with_our_names("SELECT id FROM jobs") == "SELECT id FROM jobs"


@pytest.mark.parametrize("prefix", ["Scheduler_", "9_", "a-b", "x" * 21, None, 'a"; --'])
def test_an_invalid_prefix_is_refused_with_the_remedy(prefix, settings):
    settings.JOBS_PREFIX = prefix
    with pytest.raises(ImproperlyConfigured, match=r"JOBS_PREFIX is .*, such as \"scheduler_\""):
        names.prefix()
