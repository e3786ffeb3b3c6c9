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
class Counts:
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
class Standing:
    endpoint: WebhookEndpoint
    counts: Counts

    @property
    def state(self) -> str:
        return "off" if self.endpoint.off_at else "failing" if self.endpoint.failing_since else "on"

    def as_told(self) -> dict[str, Any]:
        """Return the fields that the API and the commands show, without the salts."""
        told = {name: getattr(self.endpoint, name) for name in FIELDS}
        counts = asdict(self.counts)
        del counts["endpoint"]
        counts["oldest_waiting_at"] = counts.pop("oldest")
        return told | {"next_try_at": self.endpoint.next_at} | counts


def standings(endpoints: Iterable[WebhookEndpoint]) -> list[Standing]:
    """Return the standings of these endpoints, in their order."""
    found = list(endpoints)
    asked = [one.pk for one in found]
    counts = {one.endpoint: one for one in objects(Counts, "webhook_counts", endpoints=asked, most=MOST_COUNTED)}
    return [Standing(one, counts[one.pk]) for one in found]
