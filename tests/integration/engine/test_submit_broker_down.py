"""Submitting while the broker is down: the job is stored, nobody waits, nothing is raised."""

import os
import re
import socket
import subprocess
import sys
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from jobs.models import Job
from tests.factories import TenantFactory, ThingFactory

pytestmark = pytest.mark.django_db(transaction=True)

SUBMITTER = """
import time, django
django.setup()
from tests.sample.models import Thing
thing = Thing.objects.get()
begin = time.monotonic()
ids = thing.async_.echo.many([{"value": n} for n in range(20)])
print(time.monotonic() - begin, *ids)
"""


def submit_elsewhere(broker: str) -> tuple[float, list[int], str]:
    """In a process of its own, whose Celery knows only that broker: seconds it took, ids, what it logged."""
    url = urlsplit(os.environ["DATABASE_URL"])
    environ = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": urlunsplit(url._replace(path="/" + connection.settings_dict["NAME"])),
        "CELERY_BROKER_URL": broker,
    }
    ended = subprocess.run(
        [sys.executable, "-c", SUBMITTER], env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
    seconds, *ids = ended.stdout.split()
    return float(seconds), [int(job) for job in ids], ended.stderr


@pytest.fixture
def closed_port() -> int:
    """A port at which nobody listens: bound, so that nobody else takes it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_refuses_connections_is_no_obstacle(scheme, closed_port, register):
    register()
    ThingFactory(tenant=TenantFactory(queue__num_slots=20))
    seconds, ids, logged = submit_elsewhere(f"{scheme}://127.0.0.1:{closed_port}//")
    assert list(Job.objects.order_by("pk").values_list("pk", flat=True)) == ids
    # Claimed, and their message noted as unsent: recover sends it again.
    assert set(Job.objects.values_list("status", flat=True)) == {"queued"}
    assert re.search(r"broker out of reach error=Connection\w*Error ", logged)  # not Celery's one name for all errors
    assert "unsent=20" in logged
    assert seconds < 5
