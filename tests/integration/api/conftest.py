"""The application without a server, and clients that listen to it."""

from collections.abc import Iterator

import pytest

from jobs.lifecycle import Status
from scheduler_project.handler import ThreadedHandler
from tenants import auth
from tests.asgi import Client, two_threads
from tests.factories import TenantFactory, make_job


@pytest.fixture
def handler() -> Iterator[ThreadedHandler]:
    with two_threads() as handler:
        yield handler


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
