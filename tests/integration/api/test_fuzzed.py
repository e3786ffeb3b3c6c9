"""What the OpenAPI document promises, held against thousands of odd requests: by schemathesis, with both kinds of key.

All its checks run but one: `positive_data_acceptance` takes a 422 for a contradiction, and a report that does not exist
is just that.
"""

import json

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from ninja.responses import NinjaJSONEncoder
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.specs.openapi.checks import positive_data_acceptance

from jobs.api.api import api
from tenants import auth
from tests.factories import QueueFactory, UserFactory

pytestmark = pytest.mark.django_db
load_all_checks()
ALL_BUT_ONE = [check for check in CHECKS.get_all() if check is not positive_data_acceptance]
EXAMPLES = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def document():
    return json.loads(json.dumps(api.get_openapi_schema(path_prefix="/api/v1/"), cls=NinjaJSONEncoder))


def operations():
    return [(method.upper(), path) for path, said in document()["paths"].items() for method in said]


@pytest.fixture
def tokens(tenant, report):
    """The tenant's and the operator's. The connection is the test's own, and stays between requests."""
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield _tokens(tenant)
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)


def _tokens(tenant):
    QueueFactory(name="critical")
    _, of_tenant = auth.issue(tenant, "fuzz")
    _, of_operator = auth.issue_to_operator(UserFactory(is_staff=True, is_superuser=True), "fuzz")
    return of_tenant, of_operator


@pytest.mark.parametrize("label", operations(), ids=" ".join)
def test_every_answer_is_one_that_is_described(tokens, label):
    method, path = label
    schema = schemathesis.openapi.from_dict(document())
    schema.app = get_wsgi_application()

    @EXAMPLES
    @given(case=schema[path][method].as_strategy())
    def asked(case):
        token = tokens["/operator/" in path]
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=ALL_BUT_ONE)

    asked()
