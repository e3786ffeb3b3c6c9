"""The application without a server, clients that listen to it, and the OpenAPI document."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections

from jobs.lifecycle import Status
from scheduler_project.handler import ThreadedHandler
from tenants import auth
from tests.asgi import Client, two_threads
from tests.callers import superuser
from tests.clients import document
from tests.factories import QueueFactory, TenantFactory, make_job, operator_key


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


def validator_of(openapi: dict[str, Any], name: str) -> Any:
    """A validator of one schema of the document. name: its reference."""
    return jsonschema_rs.Draft202012Validator(
        {"$ref": name, "components": openapi["components"]}, validate_formats=True
    )


@pytest.fixture(scope="session")
def schema():
    schema = schemathesis.openapi.from_dict(document())
    schema.app = get_wsgi_application()
    schema.hook("map_query")(_in_digits)
    return schema


def _in_digits(context, query):
    """An address has integers in digits, though 3.0 fits the schema too."""
    if query is None:
        return None
    return {n: int(said) if isinstance(said, float) and said.is_integer() else said for n, said in query.items()}


@pytest.fixture
def tokens(tenant, report):
    """The tenant's and the operator's. The connection is the test's own, and stays between requests."""
    QueueFactory(name="critical")
    _, of_tenant = auth.issue(tenant, "fuzz")
    _, of_operator = operator_key(superuser(), "fuzz")
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield of_tenant, of_operator
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)
