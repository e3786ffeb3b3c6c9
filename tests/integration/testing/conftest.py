"""A thing whose jobs a test drains."""

import pytest

from jobs.contrib.testing.plugin import jobs_follow_time  # noqa: F401 - here as in any project
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Thing

IN_A_TRANSACTION = pytest.param(None, marks=pytest.mark.django_db, id="in a transaction")
WITH_COMMITS = pytest.param(None, marks=pytest.mark.django_db(transaction=True), id="with commits")


@pytest.fixture(params=[IN_A_TRANSACTION, WITH_COMMITS])
def database() -> None:
    """Every test runs as in a TestCase, which rolls one transaction back, and as in a TransactionTestCase."""


@pytest.fixture
def thing(database) -> Thing:
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))
