"""The state of webhooks: the messages that wait for each endpoint, and the outcomes of those of the last day."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from jobs.models import WebhookEndpoint
from jobs.store.rows import objects

MOST_COUNTED = 10_000  # messages that wait, of each endpoint
FIELDS = ("id", "url", "types", "batches", "created_at", "failing_since", "last_error", "off_at")


@dataclass(frozen=True)
class EndpointCounts:
    """The numbers of an endpoint's messages.

    waiting: those that wait, counted to MOST_COUNTED.
    oldest: when the job of the first waiting one ended.
    delivered, failed, dropped: in the last 24 hours.
    """

    endpoint: int
    waiting: int
    oldest: datetime | None
    delivered: int
    failed: int
    dropped: int


@dataclass(frozen=True)
class EndpointStanding:
    endpoint: WebhookEndpoint
    counts: EndpointCounts

    @property
    def state(self) -> str:
        return "off" if self.endpoint.off_at else "failing" if self.endpoint.failing_since else "on"

    def as_document(self) -> dict[str, Any]:
        """Return the fields that the API and the commands show, without the salts."""
        fields = {name: getattr(self.endpoint, name) for name in FIELDS}
        counts = asdict(self.counts)
        del counts["endpoint"]
        counts["oldest_waiting_at"] = counts.pop("oldest")
        return fields | {"next_try_at": self.endpoint.next_at} | counts


def standings(endpoints: Iterable[WebhookEndpoint]) -> list[EndpointStanding]:
    """Return the standings of these endpoints, in their order."""
    rows = list(endpoints)
    counts = objects(EndpointCounts, "webhook_counts", endpoints=[row.pk for row in rows], most=MOST_COUNTED)
    of_endpoint = {row.endpoint: row for row in counts}
    return [EndpointStanding(endpoint, of_endpoint[endpoint.pk]) for endpoint in rows]
