"""A real TLS server, whose name resolves to loopback: that is allowed by the operator's setting alone."""

import json
import ssl
import threading
from collections.abc import Callable
from datetime import datetime

import pytest
from django.utils import timezone

from jobs.engine.webhooks import endpoints
from jobs.engine.webhooks.couriers import Couriers
from jobs.models import WebhookEndpoint, WebhookMessage
from tests.clock import call_at
from tests.unit.webhooks.test_webhook_posting import HOST, Server, certificate, serve

__all__ = ["certificate", "deliver", "ends", "left", "serve"]


def deliver(moment: datetime | None = None, stop: threading.Event | None = None) -> None:
    """Post what is to be posted at that moment, until nothing is."""

    def one_turn() -> bool:
        couriers = Couriers(stop)
        couriers.take()
        took = couriers.busy
        while couriers.busy:
            couriers.note()
        return took

    while call_at(moment, one_turn):
        pass


class Customer:
    """A customer's server: it answers with `status`, and knows which jobs it was told of.

    refuses: these jobs. meanwhile: what happens before it answers.
    """

    def __init__(self, serve: Callable[..., Server]) -> None:
        self.status, self.more, self.refuses = 204, "", set[int]()
        self.meanwhile: Callable[[], object] = lambda: None
        self.server = serve(self._answer)

    def _answer(self, connection: ssl.SSLSocket) -> None:
        status = 500 if self.told[-1] in self.refuses else self.status
        self.meanwhile()
        connection.sendall(f"HTTP/1.1 {status} X\r\n{self.more}\r\n".encode())

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.server.port}/"

    @property
    def told(self) -> list[int]:
        return [json.loads(heard.partition(b"\r\n\r\n")[2])["data"]["id"] for heard in self.server.heard]


@pytest.fixture
def customer(serve, settings) -> Customer:
    settings.JOBS_WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    return Customer(serve)


@pytest.fixture
def endpoint(tenant, customer) -> WebhookEndpoint:
    return endpoints.add(tenant, customer.url)[0]


def ends(endpoint: WebhookEndpoint, count: int, at: datetime | None = None) -> list[int]:
    """So many jobs end, which are to be told to the endpoint; their numbers."""
    first = (WebhookMessage.objects.order_by("-event").values_list("event", flat=True).first() or 0) + 1
    numbers = list(range(first, first + count))
    WebhookMessage.objects.bulk_create(
        WebhookMessage(
            endpoint_id=endpoint.pk, event=n, ended_at=at or timezone.now(), data={"id": n, "status": "success"}
        )
        for n in numbers
    )
    return numbers


def left() -> list[int]:
    return list(WebhookMessage.objects.order_by("event").values_list("event", flat=True))
