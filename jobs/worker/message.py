"""The Celery message that asks a worker to run an attempt: format, sending, receiving."""

import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Self

from celery import shared_task
from django.db import DatabaseError, InterfaceError

from jobs import store, telemetry
from jobs.celery import celery_app
from jobs.engine.attempt.execute import execute
from jobs.engine.process import runtime
from jobs.store import Claimed
from plumbing.bounds import LARGEST_ID, is_whole

LARGEST_ATTEMPT = 2**31 - 1  # of its column


@dataclass(frozen=True)
class Message:
    """The request to run an attempt. It may come late, twice or never."""

    job_id: int
    attempt: int

    @classmethod
    def decode(cls, args: Sequence[object]) -> Self:
        """Decode a message; ignore the further fields of older releases. Raises ValueError."""
        match args:
            case [job_id, attempt, *_] if is_whole(job_id, 1, LARGEST_ID) and is_whole(attempt, 1, LARGEST_ATTEMPT):
                return cls(job_id, attempt)
        raise ValueError("other arguments")

    @property
    def name(self) -> str:
        """The name in Celery's log."""
        return f"{self.job_id}-{self.attempt}"


WORKER_ID = uuid.uuid4()  # of this Celery worker: chosen in the parent, before its pool forks and its children run jobs
ANSWER_SECONDS = 3.0  # how long to wait for the broker's answer, when it is asked whether it answers
ONE_RECONNECT = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}


# A message is acknowledged when a process takes it, so none gets old enough for the broker to deliver it again or to
# close the connection. PostgreSQL decides whether a job runs again; results are in the cache.
@shared_task(  # type: ignore[call-overload,untyped-decorator]  # Request is not in its stubs
    name="jobs.run_attempt",
    Request="jobs.worker.children.delivery:AttemptRequest",
    acks_late=False,
    ignore_result=True,
    serializer="json",
)
def run_attempt(*args: object) -> None:
    message, host = Message.decode(args), runtime.current().host
    if host is None:
        raise RuntimeError("this process does not run jobs")
    try:
        with host.process.undisturbed():
            clean = execute(message.job_id, message.attempt, host)
    except Exception as error:  # an outcome could not be stored: this process still holds an attempt
        telemetry.noticed("process ends: an outcome was lost", job=message.job_id, error=type(error).__name__)
        clean = False
    if not clean:
        host.process.send_messages()  # now: the parent kills this process as soon as it sees the exit
        raise SystemExit("this process makes room for a new one")


def hand_over(claimed: Sequence[Claimed]) -> None:
    """Send a message for each job. An unreachable broker is no error: the leader sends the messages that are left.

    The format is Celery's, without the headers that only Celery's own workers read: they would take half as long again.
    """
    app, unsent = celery_app(), deque(claimed)
    refusals: tuple[type[BaseException], ...] = ()
    try:
        with app.producer_or_acquire() as producer:
            refusals = producer.connection.channel_errors
            while unsent:
                message, queue = Message(unsent[0].id, unsent[0].attempt), app.amqp.queues[unsent[0].pool]
                producer.publish(
                    [astuple(message), {}, {}],
                    exchange="",  # every broker's way to the queue of that name
                    routing_key=queue.name,
                    declare=Undeclared(producer.connection, queue),
                    headers={"task": run_attempt.name, "id": message.name},
                    serializer="json",
                    retry=True,
                    retry_policy=ONE_RECONNECT,
                )
                unsent.popleft()
    except Exception as error:  # any error of the broker's library
        why = error.__cause__ or error  # the error of the broker's library, if Celery has wrapped it
        # The broker may refuse the queue of one pool, by its rights or its kind: then the other pools' messages go on.
        others = [job for job in unsent if job.pool != unsent[0].pool] if isinstance(why, refusals) else []
        refused = [job for job in unsent if job not in others]
        telemetry.noticed("broker out of reach", error=type(why).__name__, unsent=len(refused))
        leave_to_leader(refused)
        if others:
            hand_over(others)


class Undeclared:
    """An iterable with the queue of a message, if the present connection has not declared it yet.

    Kombu iterates at each try. After a lost connection the broker may not know the queue, and would drop what is sent
    to it. Kombu also remembers what it has declared, but first binds the queue to the channel, which is a quarter of
    the cost of a message.
    """

    def __init__(self, connection: Any, queue: Any) -> None:
        self._connection, self._queue = connection, queue

    def __iter__(self) -> Iterator[Any]:
        if hash(self._queue) not in self._connection.declared_entities:
            yield self._queue


def leave_to_leader(unsent: Sequence[Claimed]) -> None:
    """Let the leading clock send these messages at its next look, if another worker reaches the broker."""
    try:
        store.leave_to_leader(unsent, WORKER_ID)
    except (DatabaseError, InterfaceError) as error:  # then these jobs wait until their messages count as lost
        telemetry.noticed("unsent messages were not left to the leader", error=type(error).__name__)


class Question:
    """A connection of its own that asks the broker whether it answers. Use it as a context manager."""

    def __init__(self) -> None:
        # The transports of Redis and RabbitMQ have different names for these limits; each ignores the other's.
        limits = ("socket_timeout", "socket_connect_timeout", "read_timeout", "write_timeout")
        app = celery_app()
        self._connection = app.connection_for_write(transport_options=dict.fromkeys(limits, ANSWER_SECONDS))
        self._queue = app.amqp.queues[next(iter(app.amqp.queues.consume_from), "default")]

    def is_answered(self) -> bool:
        """Return whether the broker answers within ANSWER_SECONDS."""
        try:
            self._connection.connect()
            self._queue(self._connection.default_channel).queue_declare(passive=True)
        except Exception as error:  # any error of the broker's library
            if isinstance(error, self._connection.channel_errors):
                return True  # the broker knows no such queue, or refuses the question: that is an answer
            self._connection.collect()
            return False
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.collect()
