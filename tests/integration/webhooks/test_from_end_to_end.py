"""A job ends, and the customer's server verifies what it is sent, as docs/webhooks.md tells it to."""

import json
from collections.abc import Callable

import pytest
from django.utils import timezone

from embedded import REPOSITORY
from jobs.engine.verbs.cancel import cancel
from jobs.models import WebhookEndpoint, WebhookMessage
from tests.clients import document
from tests.integration.api.conftest import validator_of
from tests.integration.webhooks.conftest import deliver
from tests.pages import blocks
from tests.unit.webhooks.test_webhook_posting import HOST

pytestmark = pytest.mark.django_db


@pytest.fixture
def verify() -> Callable[..., None]:
    """As the page has it."""
    found: dict[str, Callable[..., None]] = {}
    (block,) = blocks(REPOSITORY / "docs" / "webhooks.md", "python")
    exec(block.text, found)
    return found["verify"]


def told_to(server, owner, report) -> tuple[str, int]:
    """The secret that its owner was shown, and the number of a job that ended then."""
    url = f"https://{HOST}:{server.port}/jobs"
    secret = owner.post("/api/v1/webhooks", {"url": url}, content_type="application/json").json()["secret"]
    job_id = report.async_(dedup=False).execute()
    cancel(job_id, tenant_id=report.tenant_id)
    deliver()
    return secret, job_id


def heard(server) -> tuple[dict[str, str], bytes]:
    head, _, body = server.heard[-1].partition(b"\r\n\r\n")
    return dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:]), body


@pytest.fixture
def customer(serve, settings):
    settings.JOBS_WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    return serve()


def test_a_message_is_verified_and_says_how_the_job_ended(customer, owner, report, verify):
    secret, job_id = told_to(customer, owner, report)
    headers, body = heard(customer)
    verify(secret, headers, body)
    told = json.loads(body)
    assert (told["type"], told["data"]["id"]) == ("job.cancelled", job_id)
    assert headers["webhook-id"].startswith("msg_")
    [described] = document()["webhooks"].values()
    message = described["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    validator_of(document(), message).validate(told)
    assert set(told["data"]) == set(document()["components"]["schemas"]["EndedJob"]["properties"])
    assert {one["name"] for one in described["post"]["parameters"]} <= set(headers)
    assert not WebhookMessage.objects.exists()


def test_while_a_secret_is_replaced_a_message_is_signed_with_both(customer, owner, report, verify):
    former, _ = told_to(customer, owner, report)
    endpoint = WebhookEndpoint.objects.get()
    present = owner.post(f"/api/v1/webhooks/{endpoint.pk}/replace-secret").json()["secret"]
    cancel(report.async_(dedup=False).execute(), tenant_id=report.tenant_id)
    deliver()
    for secret in (former, present):
        verify(secret, *heard(customer))
    WebhookEndpoint.objects.update(former_until=timezone.now())
    cancel(report.async_(dedup=False).execute(), tenant_id=report.tenant_id)
    deliver()
    verify(present, *heard(customer))
    with pytest.raises(ValueError, match="not signed"):
        verify(former, *heard(customer))


def test_a_changed_old_or_foreign_message_is_not_verified(customer, owner, report, verify):
    secret, _ = told_to(customer, owner, report)
    headers, body = heard(customer)
    old = headers | {"webhook-timestamp": str(int(headers["webhook-timestamp"]) - 400)}
    for wrong in ((secret, headers, body + b" "), (secret[:-8] + "AAAAAAA=", headers, body), (secret, old, body)):
        with pytest.raises(ValueError, match=r"too old|not signed"):
            verify(*wrong)


def test_an_address_that_no_operator_has_allowed_gets_nothing(customer, owner, report, settings):
    settings.JOBS_WEBHOOK_NETWORKS = []
    told_to(customer, owner, report)
    assert customer.heard == []
    assert WebhookMessage.objects.exists()
    assert "not of the public internet" in WebhookEndpoint.objects.get().last_error
