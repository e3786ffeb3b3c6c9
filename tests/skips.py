"""In CI nothing is skipped but what is listed here: with CI=true another skip fails, and a listed test that runs, too.

On a machine of one's own a program may be missing: the tests that need it say so, and are skipped.
"""

import os
from collections.abc import Generator
from typing import Any, NamedTuple

import pytest

from tests.thorough import THOROUGH

IN_CI = os.environ.get("CI") == "true"
ON_RABBITMQ = os.environ.get("CELERY_BROKER_URL", "").startswith("amqp")
OWN_POSTGRESQL = bool(os.environ.get("POSTGRESQL_BIN"))


class Skip(NamedTuple):
    """A test, or all of a file, that is skipped in CI.

    why: what cannot be had there.
    command: runs it where that can be had.
    here: whether this run skips it; None: it depends on the machine.
    """

    why: str
    command: str
    here: bool | None = True


ALLOWED = {
    "tests/unit/calls/test_signature.py::test_a_type_may_name_what_only_type_checkers_import_and_its_own_class": Skip(
        "CI has Python 3.11, and this is Python 3.14's",
        "make test PYTHON=/path/to/python3.14 ARGS=tests/unit/calls/test_signature.py",
    ),
    "tests/acceptance/test_upgrade.py::test_a_database_of_a_release_is_migrated_and_its_jobs_run": Skip(
        "no release has been tagged yet",
        "make dump VERSION=...; make test ARGS=tests/acceptance/test_upgrade.py",
    ),
    "tests/acceptance/test_plain_database.py::test_no_statement_of_the_engine_is_compiled": Skip(
        "the embedded PostgreSQL has no LLVM",
        "make test-15",
        None if OWN_POSTGRESQL else True,
    ),
    "tests/acceptance/test_own_project.py::test_the_page_works_as_it_is_written": Skip(
        "it takes minutes; the workflow runs it",
        "make test THOROUGH=1 ARGS=tests/acceptance/test_own_project.py",
        not THOROUGH,
    ),
    "tests/acceptance/test_existing_projects.py::test_a_hundred_jobs_of_ten_tenants_run_in_it": Skip(
        "it fetches two hundred packages; the workflow runs it",
        "make test THOROUGH=1 ARGS=tests/acceptance/test_existing_projects.py",
        not THOROUGH,
    ),
    "tests/acceptance/test_insight_measured.py": Skip(
        "it takes five minutes; the workflow runs it",
        "make test THOROUGH=1 ARGS=tests/acceptance/test_insight_measured.py",
        not THOROUGH,
    ),
    "tests/acceptance/test_newer_postgresql.py": Skip(
        "it takes a minute; the workflow runs it",
        "make test THOROUGH=1 ARGS=tests/acceptance/test_newer_postgresql.py",
        not THOROUGH,
    ),
    "tests/acceptance/test_fair.py": Skip(
        "it tries a benchmark; the workflow runs it",
        "make test THOROUGH=1 ARGS=tests/acceptance/test_fair.py",
        not THOROUGH,
    ),
    "tests/acceptance/test_public_adapter.py::test_a_death_of_one_of_two_adapters_loses_no_job": Skip(
        "it tries a benchmark; the workflow runs it",
        "make test THOROUGH=1 ARGS=tests/acceptance/test_public_adapter.py",
        not THOROUGH,
    ),
    "tests/acceptance/test_chaos.py::test_chaos_on_hosts_whose_network_breaks_loses_nothing_either": Skip(
        "it takes another two minutes; the workflow runs it",
        "make chaos HOSTS=1",
        not THOROUGH,
    ),
    "tests/acceptance/test_messages.py": Skip(
        "it puts something of its own into a list of Valkey",
        "make test ARGS=tests/acceptance/test_messages.py",
        None if ON_RABBITMQ else False,
    ),
    **{
        f"tests/acceptance/{file}": Skip(
            "on RabbitMQ two deployments have a virtual host each",
            f"make test ARGS=tests/acceptance/{file}",
            ON_RABBITMQ,
        )
        for file in ("test_two_deployments.py", "test_moves.py")
    },
}


def judge(report: pytest.TestReport) -> None:
    """Let a report of a skip fail that is not allowed; and one of a test that was expected to be skipped."""
    file, _, test = report.nodeid.partition("[")[0].partition("::")
    listed = ALLOWED.get(f"{file}::{test}") or ALLOWED.get(file)
    allowed = listed is not None and listed.here is not False
    if report.skipped and not hasattr(report, "wasxfail") and not allowed:
        _, _, reason = report.longrepr  # type: ignore[misc]
        report.outcome, report.longrepr = "failed", f"{reason}: in CI only what tests/skips.py lists is skipped"
    elif report.when == "call" and report.passed and listed is not None and listed.here:
        report.outcome, report.longrepr = "failed", "it runs: take it off the list in tests/skips.py"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    if IN_CI:
        judge(report)
    return report
