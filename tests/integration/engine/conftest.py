"""A thing whose one job at a time a test runs."""

import pytest

from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Thing


@pytest.fixture
def thing(register) -> Thing:
    """Of a tenant with one slot; there is a worker."""
    register()
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def one_worker(register, settings) -> None:
    """It is live for as long as a busy machine takes."""
    settings.JOBS_BEAT_INTERVAL = 3600.0
    register()


@pytest.fixture(params=["COMMIT", "ROLLBACK"])
def they(request, onlooker):
    """Somebody who begins something, and then ends it in that way; whether they commit."""
    onlooker.execute("BEGIN")
    onlooker.commits = request.param == "COMMIT"
    onlooker.end = lambda: onlooker.execute(request.param)
    yield onlooker
    onlooker.execute("ROLLBACK")
