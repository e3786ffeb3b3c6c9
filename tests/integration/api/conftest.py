"""The application without a server, and clients that listen to it."""

import threading
from collections.abc import Iterator

import pytest
from django.db import connections

from jobs.lifecycle import Status
from scheduler_project.handler import ThreadedHandler
from tenants import auth
from tests.asgi import Client
from tests.factories import TenantFactory, make_job
from tests.integration.api.listening import THREADS


@pytest.fixture
def handler() -> Iterator[ThreadedHandler]:
    """With two threads, whose connections are closed afterwards."""
    handler = ThreadedHandler(THREADS)
    yield handler
    together = threading.Barrier(THREADS)
    for _ in range(THREADS):
        handler._threads.submit(lambda: (together.wait(30), connections.close_all()))
    handler._threads.shutdown()


@pytest.fixture
def listen(handler):
    """`listen(path, as_whom)`: a request by a key of that tenant, or with these headers."""

    def listen(path, tenant=None, **headers):
        if tenant is not None:
            headers["Authorization"] = f"Bearer {keys[tenant.pk]}"
        return Client(handler, path, **headers)

    def key(tenant):
        if tenant.pk not in keys:
            keys[tenant.pk] = auth.issue(tenant, "test")[1]
        return keys[tenant.pk]

    keys, listen.key = {}, key
    return listen


@pytest.fixture
def running(listen):
    job = make_job(TenantFactory(name="Owner & Co."), Status.RUNNING)
    listen.key(job.tenant)
    return job
