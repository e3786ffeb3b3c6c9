"""What the pages say of a light pool: its seats, and not its processes alone."""

import pytest

from jobs.lifecycle import Status
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.integration.dashboard.reading import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def light(register):
    """A worker of two processes with 200 seats each, of which one is in use."""
    worker = register(concurrency=400, pool="mail", kind="light", seats=200)
    make_job(TenantFactory(), Status.RUNNING, queue=QueueFactory(name="mail", pool="mail"), worker=worker)
    return worker


def plain(page) -> str:
    return " ".join(text(page).split())


def test_workers_are_shown_with_their_processes_and_seats(client, light):
    page = plain(client.get("/ops/workers/"))
    assert 'title="2 × 200 seats">light</span>' in page
    assert "1/400 seats" in page


def test_the_overview_counts_seats_if_a_pool_is_light(client, light):
    page = plain(client.get("/ops/"))
    assert "<small> of 400 seats</small>" in page
    assert "400 seats</td>" in page


def test_without_a_light_pool_the_overview_counts_processes(client, register):
    register(concurrency=4)
    assert "<small> of 4 processes</small>" in plain(client.get("/ops/"))
    assert "seats" not in plain(client.get("/ops/workers/"))
