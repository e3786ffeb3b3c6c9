"""The broker loses its queue, or is restarted: whichever broker it is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jobs.engine.process import runtime
from jobs.models import Job
from jobs.worker import message
from tests.acceptance import rabbitmq
from tests.acceptance.following import ended, held_lock, release_lock, running
from tests.acceptance.rabbitmq import RabbitMQ
from tests.factories import ThingFactory
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("RabbitMQ; that a lost message is sent again is in test_execution.py"),
]
# It closes a channel with a message that is not acknowledged within three seconds, instead of half an hour.
IMPATIENT = "-rabbit consumer_timeout 3000 -rabbit channel_tick_interval 500"


@contextmanager
def busy(register: Callable[..., object]) -> Iterator[None]:
    """The one process of a worker runs a job, and a second one waits: it is for a worker that is only a row.

    At the end both have ended, in their first attempt.
    """
    register(concurrency=1)
    thing = ThingFactory()
    with held_lock(21):
        first = thing.async_.wait_for_lock(21)
        running(first)
        second = thing.async_.echo("waited")
        wait_until(lambda: Job.objects.get(pk=second).status == "queued", "the second is handed over")
        yield
        release_lock(21)
        for job_id in (first, second):
            job = ended(job_id)
            assert (job.status, job.attempt, job.crashes) == ("success", 1, 0)
            assert Run.objects.filter(job_id=job_id).count() == 1


def test_a_purged_queue_loses_messages_and_no_job(start_worker, register):
    start_worker(concurrency=1)
    with busy(register):
        message.run_attempt.app.control.purge()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RabbitMQ]:
    with rabbitmq.running(tmp_path, arguments=IMPATIENT, quorum=False) as broker:
        yield broker


@rabbitmq.INSTALLED
def test_rabbitmq_loses_no_job_of_a_busy_worker(broker, environ, start_worker, register, subtests):
    runtime.change(carrier=rabbitmq.sent_to(broker.classic))
    environ["CELERY_BROKER_URL"] = broker.classic
    log = start_worker(concurrency=1).log
    with subtests.test("which closes the channel of a message that waits"), busy(register):
        wait_until(lambda: "PRECONDITION_FAILED" in log.read_text(), "RabbitMQ has closed the channel")
    for commands in (("stop_app", "start_app"), ("stop_app", "reset", "start_app")):
        with subtests.test(commands), busy(register):
            for command in commands:
                broker.ctl(command)
