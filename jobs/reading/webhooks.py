"""How it stands with webhooks: what waits for each endpoint, and what came of the messages of the last day."""

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
    """Messages. waiting: counted to MOST_COUNTED; oldest: when the job of the first one ended. The others: of a day."""

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
        """What the API and the commands tell; all but the salt."""
        told = {name: getattr(self.endpoint, name) for name in FIELDS}
        counts = asdict(self.counts)
        del counts["endpoint"]
        counts["oldest_waiting_at"] = counts.pop("oldest")
        return told | {"next_try_at": self.endpoint.next_at} | counts


def standings(endpoints: Iterable[WebhookEndpoint]) -> list[Standing]:
    """Of these, in their order."""
    found = list(endpoints)
    asked = [one.pk for one in found]
    counts = {one.endpoint: one for one in objects(Counts, "webhook_counts", endpoints=asked, most=MOST_COUNTED)}
    return [Standing(one, counts[one.pk]) for one in found]
