"""Post the messages of the outbox: for a turn each endpoint has a thread of its own, which uses no database.

So a receiver that is slow, or never answers, holds up only its own messages. Only the caller of `take` and `note`
speaks with PostgreSQL, in short transactions.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic

from jobs import telemetry
from jobs.calls.refusals import InvalidRequest
from jobs.conf import settings
from jobs.engine.webhooks import outbox, posting, signing
from jobs.engine.webhooks.outbox import DeliveryTurn, OutboxMessage
from jobs.engine.webhooks.posting import NotDelivered

MOST = 32  # endpoints at a time; a tenant has ten
MOST_FAILING = MOST // 2  # of these; the rest is for endpoints that took the last message
Post = Callable[[str, bytes, Mapping[str, str], Iterable[str]], None]
LOOK_SECONDS = 0.25  # between two looks into the outbox, unless a turn has ended


@dataclass
class _News:
    """The results of a turn that are not stored yet.

    delivered: the events that were delivered.
    refused: the event that was not delivered.
    why: the reason for that.
    ended: whether the turn is over.
    """

    delivered: list[int] = field(default_factory=list)
    refused: int | None = None
    why: NotDelivered | None = None
    ended: bool = False


class Couriers:
    """The turns that are under way. For one thread.

    stop: when it is set, no further post begins.
    post: a function like `posting.post`.
    """

    def __init__(self, stop: Event | None = None, post: Post = posting.post) -> None:
        self._stop, self._post = stop or Event(), post
        self._heard: SimpleQueue[tuple[DeliveryTurn, OutboxMessage | None, NotDelivered | None]] = SimpleQueue()
        self._under_way: set[DeliveryTurn] = set()
        self._news: dict[DeliveryTurn, _News] = {}
        self._looks_at = 0.0

    @property
    def busy(self) -> bool:
        return bool(self._under_way)

    def take(self) -> None:
        """Take endpoints that have messages to post, and start their threads."""
        if monotonic() < self._looks_at or self._stop.is_set():
            return
        self._looks_at = monotonic() + LOOK_SECONDS
        self._begin(outbox.take(MOST - len(self._under_way), failing=False))
        failing = sum(turn.failures > 0 for turn in self._under_way)
        self._begin(outbox.take(min(MOST - len(self._under_way), MOST_FAILING - failing), failing=True))

    def note(self) -> None:
        """Wait a moment for results, and store them. What cannot be stored is tried again at the next call."""
        with suppress(Empty):
            self._note_answer(*self._heard.get(timeout=LOOK_SECONDS))
            while True:
                self._note_answer(*self._heard.get_nowait())
        for turn in list(self._news):
            news = self._news.pop(turn)
            try:
                outbox.note(turn, news.delivered, news.refused, news.why, ended=news.ended)
            except BaseException:
                self._news[turn] = news  # after the others
                raise
            if news.ended:
                self._under_way.remove(turn)
                self._looks_at = 0.0

    def _begin(self, turns: Sequence[DeliveryTurn]) -> None:
        for turn in turns:
            self._under_way.add(turn)
            Thread(target=self._carry, args=[turn], name="webhook", daemon=True).start()

    def _carry(self, turn: DeliveryTurn) -> None:
        """Post the messages in their order until one fails. Runs in a thread of its own, and uses no database."""
        try:
            for message in turn.messages:
                if self._stop.is_set() or monotonic() - turn.begins > outbox.TURN_SECONDS:
                    break
                failure = self._posted(turn, message)
                self._heard.put((turn, message, failure))
                if failure is not None:
                    break
        finally:
            self._heard.put((turn, None, None))

    def _note_answer(self, turn: DeliveryTurn, message: OutboxMessage | None, failure: NotDelivered | None) -> None:
        news = self._news.setdefault(turn, _News())
        if message is None:
            news.ended = True
        elif failure is None:
            news.delivered.append(message.event)
        else:
            news.refused, news.why = message.event, failure

    def _posted(self, turn: DeliveryTurn, message: OutboxMessage) -> NotDelivered | None:
        """Post a message, signed. Return why it was not delivered; None: it was."""
        try:
            body = json.dumps(message.body(), ensure_ascii=False).encode()
            headers = signing.headers(f"msg_{message.event}_{turn.endpoint}", turn.now(), body, turn.salts)
            self._post(turn.url, body, headers, settings.JOBS_WEBHOOK_NETWORKS)
        except NotDelivered as error:
            return error
        except InvalidRequest as error:
            return NotDelivered(str(error))
        except Exception as error:  # a fault of ours: the endpoint rests, and is tried again
            telemetry.noticed("webhook not posted", endpoint=turn.endpoint, error=type(error).__name__)
            return NotDelivered("it could not be posted")
        return None
