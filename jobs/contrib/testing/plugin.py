"""Fixtures for pytest, beside pytest-django: `pytest -p jobs.contrib.testing.plugin`."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from jobs.contrib.testing.attempt import Attempt
    from jobs.contrib.testing.time import FrozenTime


@pytest.fixture(scope="class", autouse=True)
def jobs_follow_time() -> Iterator[None]:
    """Let jobs take the time from `timezone.now()` in all tests, also if a library freezes it while a class sets up."""
    from django.apps import apps

    if not (apps.ready and apps.is_installed("jobs")):  # the wheel is installed beside another project
        yield
        return
    from jobs.contrib.testing.time import following

    with following():
        yield


@pytest.fixture
def drain_jobs(db: None) -> "Callable[..., list[Attempt]]":
    """Return the function `jobs.contrib.testing.drain`; the test may use the database."""
    from jobs.contrib.testing import drain

    return drain


@pytest.fixture
def run_job(db: None) -> Callable[..., Any]:
    """Return the function `jobs.contrib.testing.run`; the test may use the database."""
    from jobs.contrib.testing import run

    return run


@pytest.fixture
def frozen_time() -> "Iterator[FrozenTime]":
    """The time stands still during the test; `frozen_time.move(60)` lets it pass."""
    from jobs.contrib.testing import freeze_time

    with freeze_time() as frozen:
        yield frozen
