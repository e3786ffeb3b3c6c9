"""A thing whose one job at a time a test runs, with a body of its own."""

from collections.abc import Callable

import pytest

from jobs import job
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Thing


@pytest.fixture
def thing(register) -> Thing:
    """Of a tenant with one slot; there is a worker."""
    register()
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def body(monkeypatch) -> Callable[..., None]:
    """Let Thing.echo be this function, marked as a job: `body(function, retry=...)`."""

    def body(function, **options) -> None:
        monkeypatch.setattr(Thing, "echo", job(**options)(function))

    return body


@pytest.fixture(params=["COMMIT", "ROLLBACK"])
def they(request, onlooker):
    """Somebody who begins something, and then ends it in that way; whether they commit."""
    onlooker.execute("BEGIN")
    onlooker.commits = request.param == "COMMIT"
    onlooker.end = lambda: onlooker.execute(request.param)
    yield onlooker
    onlooker.execute("ROLLBACK")
