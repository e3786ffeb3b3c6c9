"""The outbox: the messages that wait to be posted, the turns of their endpoints, and the results.

The statement that ends a job stores a message for each endpoint that wants it (a trigger, for jobs with the mark
`announced`). A sender takes an endpoint for a turn, and gives it back: no other sender posts to it meanwhile. A message
is deleted after its delivery. So it is sent again if the sender dies between the two.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, NamedTuple

from django.db import transaction

from jobs import telemetry
from jobs.engine.webhooks.posting import SECONDS, NotDelivered
from jobs.models import WebhookEndpoint
from jobs.store.rows import objects, rows
from tenants import audit

PATIENCE = timedelta(days=3)  # with an endpoint that fails; and the age of the oldest message that is kept
MOST_KEPT = 100_000  # messages of an endpoint
TURN_SECONDS = 15.0  # in which the posts of a turn begin
LEASE_SECONDS = TURN_SECONDS + SECONDS + 15.0  # a sender that was held up for less does not meet the next one
TURN_MESSAGES = 50  # of an endpoint that works; one that fails gets one message, until that was taken
FIRST_REST, LONGEST_REST = 5.0, 600.0  # seconds for which a failing endpoint is left alone: twice as long each time
LONGEST_ASKED = 3600.0  # seconds, if its answer asks for it (Retry-After)
PAUSE_SECONDS = 2 * LONGEST_ASKED  # without a try, after which the time of its failures begins anew
MOST_TRIES, ASIDE_SECONDS = 5, 3600.0  # of a message that is refused, until it stands aside, and for how long
BATCH = 1000  # messages to drop at a time
# Answers that are not about this message: other messages would get the same now.
BUSY = frozenset({408, 425, 429, 502, 503, 504})
GONE = 410


class OutboxMessage(NamedTuple):
    event: int
    ended_at: datetime
    user_key: str
    data: dict[str, Any]

    def body(self) -> dict[str, Any]:
        """Return the message as the tenant's own system gets it.

        It has no arguments, results and texts of errors; that system may ask the API for them.
        """
        return {
            "id": self.event,
            "type": f"job.{self.data['status']}",
            "timestamp": self.ended_at.isoformat(),
            "data": {**self.data, "user": self.user_key},
        }


@dataclass(eq=False)
class DeliveryTurn:
    """An endpoint that was taken to post to.

    turn: the number of the turn, its fence.
    at: the database's time at `begins`.
    begins: the beginning of the turn by the monotonic clock of this process.
    """

    endpoint: int
    turn: int
    tenant_id: int
    url: str
    failures: int
    at: datetime
    salts: list[str]
    begins: float = 0.0
    messages: list[OutboxMessage] = field(default_factory=list)

    def now(self) -> datetime:
        """The database's time, without asking it."""
        return self.at + timedelta(seconds=monotonic() - self.begins)


def take(seats: int, *, failing: bool) -> list[DeliveryTurn]:
    """Take at most `seats` endpoints that have messages to post now.

    failing: whether to take endpoints that fail, or endpoints that work.
    """
    if seats <= 0:
        return []
    begins = monotonic()
    turns = {
        turn.endpoint: turn
        for turn in objects(DeliveryTurn, "take_webhooks", seats=seats, failing=failing, lease=LEASE_SECONDS)
    }
    if turns:
        parameters = {"endpoints": list(turns), "failures": [turn.failures for turn in turns.values()]}
        for endpoint, event, ended_at, user, data in rows("read_messages", **parameters, most=TURN_MESSAGES):
            turns[endpoint].messages.append(OutboxMessage(event, ended_at, user, json.loads(data)))
    for turn in turns.values():
        turn.begins = begins
    return list(turns.values())


@transaction.atomic  # with its entry in the audit log
def note(
    turn: DeliveryTurn,
    delivered: Sequence[int],
    refused: int | None = None,
    why: NotDelivered | None = None,
    *,
    ended: bool = True,
) -> None:
    """Store which messages of a turn were delivered, and which one was not.

    delivered: the events that were delivered.
    refused: the event that was not delivered.
    why: the reason for that.
    ended: whether other senders may take the endpoint from now on.
    """
    if why is None and len(delivered) == 0:
        if ended:
            WebhookEndpoint.objects.filter(pk=turn.endpoint, turn=turn.turn).update(taken_until=None)
        return
    rest = min(FIRST_REST * 2.0 ** (0 if delivered else min(turn.failures, 16)), LONGEST_REST)
    about_it = why is not None and why.status is not None and why.status not in BUSY
    gone = why is not None and why.status == GONE
    off = rows(
        "note_turn",
        **{"endpoint": turn.endpoint, "turn": turn.turn, "told": list(delivered), "ended": ended, "gone": gone},
        **{"wait": None if why is None else max(rest, min(why.retry_after, LONGEST_ASKED))},
        **{"why": why and str(why)[:300], "refused": refused if about_it else None},
        **{"most": MOST_TRIES, "aside": ASIDE_SECONDS, "pause": PAUSE_SECONDS, "patience": PATIENCE.total_seconds()},
    )
    if off:
        with audit.acting("the scheduler"):
            endpoints = [(turn.endpoint, turn.url)]
            audit.note("switched off", WebhookEndpoint, endpoints, {"why": ["", str(why)]}, tenant_id=turn.tenant_id)
        telemetry.noticed("webhook endpoint switched off", tenant=turn.tenant_id, endpoint=turn.endpoint)


def drop() -> None:
    """Delete messages that are too old or too many; their endpoints count the deleted ones."""
    dropped: defaultdict[int, int] = defaultdict(int)
    while counts := rows("drop_messages", age=PATIENCE.total_seconds(), most=MOST_KEPT, batch=BATCH):
        for endpoint, messages in counts:
            dropped[endpoint] += messages
    for endpoint, messages in dropped.items():
        telemetry.noticed("webhook messages dropped", endpoint=endpoint, messages=messages)
