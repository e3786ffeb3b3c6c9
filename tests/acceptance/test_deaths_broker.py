"""The broker loses its queue, or is restarted: whichever broker it is."""

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from jobs.models import Job
from jobs.worker import message
from tests.acceptance.following import ended, held_lock, release_lock, running
from tests.factories import ThingFactory
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("RabbitMQ; that a lost message is sent again is in test_execution.py"),
]

rabbitmq_of_this_machine = pytest.mark.skipif(
    not os.environ.get("CELERY_BROKER_URL", "").startswith("amqp") or shutil.which("rabbitmqctl") is None,
    reason="CELERY_BROKER_URL names no RabbitMQ of this machine",
)


def rabbitmqctl(*words: str) -> str:
    return subprocess.run(["rabbitmqctl", "--quiet", *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def busy(start_worker, register):
    """A worker whose one process runs a job, and a second job, for a worker that is only a row: its message waits."""
    start_worker(concurrency=1)
    register(concurrency=1)
    thing = ThingFactory()
    with held_lock(21):
        first = thing.async_.wait_for_lock(21)
        running(first)
        second = thing.async_.echo("waited")
        wait_until(lambda: Job.objects.get(pk=second).status == "queued", "the second is handed over")
        yield first, second


def both_ended_once(jobs: tuple[int, int]) -> None:
    for job_id in jobs:
        job = ended(job_id)
        assert (job.status, job.attempt, job.crashes) == ("success", 1, 0)
        assert Run.objects.filter(job_id=job_id).count() == 1


def test_a_purged_queue_loses_messages_and_no_job(busy):
    message.run_attempt.app.control.purge()
    release_lock(21)
    both_ended_once(busy)


@rabbitmq_of_this_machine
def test_rabbitmq_restarted_while_a_job_runs(busy):
    for command in ("stop_app", "start_app"):
        rabbitmqctl(command)
    release_lock(21)
    both_ended_once(busy)


@rabbitmq_of_this_machine
def test_rabbitmq_reset_to_nothing_while_a_job_runs(busy):
    for command in ("stop_app", "reset", "start_app"):
        rabbitmqctl(command)
    release_lock(21)
    both_ended_once(busy)


@pytest.fixture
def impatient_rabbitmq() -> Iterator[None]:
    """It closes a channel with a message that is not acknowledged within three seconds, instead of half an hour."""
    settings = "[application:set_env(rabbit, Name, Value) || {{Name, Value}} <- {}]."
    rabbitmqctl("eval", settings.format("[{consumer_timeout, 3000}, {channel_tick_interval, 500}]"))
    yield
    rabbitmqctl("eval", settings.format("[{consumer_timeout, 1800000}, {channel_tick_interval, 60000}]"))


def consumers() -> set[str]:
    """The channels on which somebody takes messages."""
    return set(rabbitmqctl("list_consumers", "--no-table-headers", "channel_pid").split())


@rabbitmq_of_this_machine
def test_a_message_that_waits_at_a_busy_worker_for_longer_than_rabbitmq_allows(impatient_rabbitmq, busy):
    before = consumers()
    wait_until(lambda: not before & consumers(), "RabbitMQ has closed the channel")
    release_lock(21)
    both_ended_once(busy)
