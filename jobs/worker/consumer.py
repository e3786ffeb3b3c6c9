"""Filter the messages of a worker: accept complete attempts; reject all other messages for good.

Celery trusts its messages: a wrong header or a body of another shape would end the consumer or a process, and the
message would return at the next start.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from celery import bootsteps
from celery.worker.consumer.tasks import Tasks
from kombu.log import get_logger

from jobs import telemetry
from jobs.worker import light
from jobs.worker.light import LightPool
from jobs.worker.message import Message, run_attempt

MAX_BYTES = 64 * 1024  # of a message; ours have some 100
MAX_SHOWN = 80  # characters of a refused task's name in the log

logger = get_logger(__name__)


class TakeAttempts(bootsteps.StartStopStep):
    """The step that installs our handler of messages, before Celery reads one."""

    requires = (Tasks,)

    def start(self, consumer: Any) -> None:
        celerys_own = type(consumer).create_task_handler
        errors, pool = consumer.connection_errors, light.of_this_worker()
        consumer.create_task_handler = lambda: taking_attempts(
            celerys_own(consumer) if pool is None else partial(_give_to_feeder, pool, errors),
            lambda message: message.reject_log_error(logger, errors),
        )


def _give_to_feeder(pool: LightPool, errors: tuple[type[Exception], ...], message: Any) -> None:
    message.ack_log_error(logger, errors)
    attempt = attempt_of(message)
    pool.call(attempt.job_id, attempt.attempt)


class HangUp(bootsteps.StartStopStep):
    """The step that closes the last connection before each new one: Celery leaves it open if it refused a command."""

    def __init__(self, consumer: Any, **_: Any) -> None:
        super().__init__(consumer)
        connect = consumer.connection_for_read
        last: list[Any] = []

        def connect_anew(**options: Any) -> Any:
            while last:
                with suppress(Exception):  # whatever the broker's library makes of it
                    last.pop().collect()
            last.append(connect(**options))
            return last[-1]

        consumer.connection_for_read = connect_anew


def taking_attempts(take: Callable[[Any], object], refuse: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return the handler of messages: `take` gets the attempts, with only our headers; `refuse` gets the rest."""

    def received(message: Any) -> None:
        try:
            attempt = attempt_of(message)
        except Exception as error:  # any error of decoding, too
            name = repr((message.headers or {}).get("task"))[:MAX_SHOWN]
            telemetry.noticed(
                "message refused", task=name, because=repr(error)[:MAX_SHOWN], bytes=len(message.body or "")
            )
            refuse(message)
            return
        message.headers = {"task": run_attempt.name, "id": attempt.name}
        take(message)

    return received


def attempt_of(message: Any) -> Message:
    """Return our message inside Celery's. Raises ValueError or an error of decoding if it is no attempt."""
    if message.headers.get("task") != run_attempt.name:
        raise ValueError("another task")
    if len(message.body) > MAX_BYTES:
        raise ValueError("too large")
    match message.payload:
        case [args, kwargs, embedded] if not kwargs and not any(dict(embedded or {}).values()):
            return Message.decode(args)
    raise ValueError("other arguments")


def takes_messages(consumer: Any, pool: str) -> bool:
    """Return whether it consumes from the pool's queue: not while it reconnects or after Celery's `cancel_consumer`."""
    taking = consumer.task_consumer
    return taking is not None and bool(taking.consuming_from(pool))
