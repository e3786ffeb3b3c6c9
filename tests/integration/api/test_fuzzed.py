"""What the OpenAPI document promises, held against thousands of odd requests: by schemathesis, with both kinds of key.

Data that fits the schema must be accepted, except where only the server can judge it: the operations of `JUDGED`.
"""

import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CHECKS, load_all_checks

from tests.clients import document
from tests.thorough import sized

pytestmark = pytest.mark.django_db
load_all_checks()
CHECKED = CHECKS.get_all()
ACCEPTED = ["2xx", "404", "409", "429"]
JUDGED = {  # 422 for data that fits the schema
    "submit_job": "whether the call is possible, and its moment to come",
    "submit_jobs": "the same",
    "make_batch": "the same, of its jobs and callbacks",
    "add_to_batch": "the same",
    "add_webhook": "whether the address is one of the public internet",
    "create_schedule": "the same",
    "change_schedule": "the same",
    "preview_rule": "whether the rule is one",
    "list_dead": "where a page begins, and the names",
    "list_all_jobs": "the names of tenants and queues, the lengths and the times",
    "list_all_batches": "the same",
    "list_all_changes": "the same, and the moments",
    "read_usage": "which parts there are, and whether the days are in order",
    "read_usage_of_tenants": "the same, and the names",
    "revive_dead": "whether ids or filters are given",
    "discard_dead": "the same",
    "change_queue": "the columns' ranges",
    "change_tenant": "the same",
    "ask_what_if": "the same, and the names",
    "pause_type": "whether there is such a type",
    "resume_type": "whether it is paused",
}
EXAMPLES = settings(
    max_examples=sized(2, thorough=20),
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def operations():
    return [(method.upper(), path) for path, said in document()["paths"].items() for method in said]


@pytest.mark.parametrize("label", operations(), ids=" ".join)
def test_every_answer_is_one_that_is_described(tokens, schema, label):
    method, path = label
    judged = schema[path][method].definition.raw["operationId"] in JUDGED
    schema.config.checks.positive_data_acceptance.expected_statuses = [*ACCEPTED, *(["422"] if judged else [])]

    @EXAMPLES
    @given(case=schema[path][method].as_strategy())
    def asked(case):
        token = tokens["/operator/" in path]
        answer = case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKED)
        assert not re.search("Input should|Field required|Ensure this", answer.text), "our own voice"

    asked()
