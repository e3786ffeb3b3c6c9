"""A job that waits, and a browser of somebody else."""

import pytest
from django.test import Client

from jobs.models import Job
from tests.callers import browser_of
from tests.factories import MemberFactory, make_job


@pytest.fixture
def job(tenant, report) -> Job:
    """A waiting one, about the report."""
    return make_job(tenant, source_id=str(report.pk), args={"password": "hunter2", "year": 2004})


@pytest.fixture
def foreign_mate() -> Client:
    return browser_of(MemberFactory().user)
