"""Messages that no dispatch has sent: a worker refuses them, says so once, and goes on with the same process."""

import json

import pytest
import redis
from django.conf import settings

from jobs.engine.process import runtime
from jobs.models import Job, Worker
from jobs.worker import message
from tests.acceptance.following import ended, held_lock, running
from tests.factories import ThingFactory
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

OURS = {"task": "jobs.run_attempt", "id": "1-1"}
JSON = ("application/json", "utf-8")


def body(*args: object, kwargs: object = None, embedded: object = None) -> bytes:
    return json.dumps([args, kwargs or {}, embedded or {}]).encode()


MALFORMED = {
    "words for numbers": (OURS, body("x", None, "y", "z"), *JSON),
    "too few arguments": (OURS, body(1), *JSON),
    "no arguments": (OURS, body(), *JSON),
    "a number that no column holds": (OURS, body(2**63, 1), *JSON),
    "an attempt that no column holds": (OURS, body(1, 2**31), *JSON),
    "a negative attempt": (OURS, body(1, -1), *JSON),
    "true for a number": (OURS, body(True, 1), *JSON),
    "named arguments": (OURS, body(1, 1, kwargs={"job_id": 1}), *JSON),
    "something to run afterwards": (OURS, body(1, 1, embedded={"chain": [{"task": "celery.map"}]}), *JSON),
    "a megabyte": (OURS, body(1, 1, "x" * 1_000_000), *JSON),
    "a number for a body": (OURS, b"42", *JSON),
    "an object for a body": (OURS, b'{"args": [1, 1], "kwargs": {}, "id": "1-1", "task": "jobs.run_attempt"}', *JSON),
    "no JSON": (OURS, b"{", *JSON),
    "nothing": (OURS, b"", *JSON),
    "depth": (OURS, b"[" * 50_000, *JSON),
    "pickle": (OURS, b"\x80\x04.", "application/x-python-serialize", "binary"),
    "a type that nobody has heard of": (OURS, body(1, 1), "text/x-nothing", "utf-8"),
    "another task": ({"task": "shop.ship", "id": "1"}, body(1, 1), *JSON),
    "a task of Celery's own": ({"task": "celery.backend_cleanup", "id": "1"}, b"42", *JSON),
    "no name of a task": ({"task": {"a": 1}, "id": "1"}, body(1, 1), *JSON),
    "no headers": ({}, body(1, 1), *JSON),
    "a message of the first protocol": (
        {},
        b'{"task": "jobs.run_attempt", "id": "1-1", "args": [1, 1], "kwargs": {}}',
        *JSON,
    ),
}


def publish(headers: dict, text: bytes, content_type: str, encoding: str) -> None:
    with message.run_attempt.app.connection_for_write() as fresh:
        fresh.Producer().publish(
            text, headers=headers, content_type=content_type, content_encoding=encoding, routing_key="default"
        )


@pytest.fixture
def log(tmp_path):
    return lambda: "".join(path.read_text() for path in tmp_path.glob("default*.log"))


def test_a_worker_refuses_what_is_no_attempt_and_its_process_goes_on(start_worker, log):
    worker = start_worker(concurrency=1)
    owner = ThingFactory()
    before = ended(owner.async_.echo("before"))
    for one in MALFORMED.values():
        publish(*one)
    wait_until(lambda: log().count("message refused") >= len(MALFORMED) or not worker.alive, "all are refused")
    assert worker.alive, log()
    after = ended(owner.async_.echo("after"))
    assert (after.status, after.attempt, after.crashes) == ("success", 1, 0)
    one_process = set(Run.objects.filter(job_id__in=[before.pk, after.pk]).values_list("pid", flat=True))
    assert len(one_process) == 1
    assert log().count("message refused") == len(MALFORMED)
    assert "Traceback" not in log()
    assert "report waits" not in log()


def test_options_of_a_celery_message_have_no_effect_on_the_attempt(start_worker, register, environ):
    """A moment, a time limit, an expiry: only PostgreSQL says when an attempt starts, and for how long it runs."""
    environ["JOBS_HAND_OVER_TIMEOUT"] = "3600"  # so that nobody sends it but we
    register(concurrency=1)
    runtime.change(carrier=lambda claimed: None)
    job = Job.objects.get(pk=ThingFactory().async_.echo())
    assert job.status == "queued"
    headers = OURS | {"eta": "9999-12-31T23:59:59", "timelimit": [0.001, 0.001], "expires": "garbage", "retries": "x"}
    publish(headers, body(job.pk, job.attempt), *JSON)
    start_worker(concurrency=1)
    done = ended(job.pk)
    assert (done.status, done.attempt, done.crashes) == ("success", 1, 0)


def test_a_strangers_message_starts_no_attempt_that_postgresql_does_not_know(start_worker, log):
    start_worker(concurrency=1)
    stranger = ThingFactory().async_(delay=3600).echo("later")
    publish(OURS, body(stranger, 1), *JSON)
    wait_until(lambda: f"start ignored job={stranger}" in log(), "the message is taken up")
    assert Job.objects.get(pk=stranger).status == "scheduled"
    assert not Run.objects.filter(job_id=stranger).exists()


@pytest.mark.skipif(not settings.CELERY_BROKER_URL.startswith("redis"), reason="of RabbitMQ's one may wait there")
def test_a_busy_worker_leaves_every_message_to_an_idle_one(start_worker, environ):
    environ["JOBS_HAND_OVER_TIMEOUT"] = "3600"  # nobody sends one again
    start_worker(concurrency=1)
    owner = ThingFactory()
    with held_lock(23):
        running(owner.async_.wait_for_lock(23))
        start_worker(concurrency=1)
        for number in range(4):  # each to who has waited longest
            assert ended(owner.async_.echo(number)).status == "success"


@pytest.mark.skipif(not settings.CELERY_BROKER_URL.startswith("redis"), reason="RabbitMQ takes no bytes without a form")
def test_bytes_that_are_no_message_end_the_worker_in_good_order_and_are_gone(start_worker, log):
    """Celery's own reading of them fails. The supervisor starts the worker anew, and it finds them no more."""
    worker = start_worker(concurrency=2)  # one is idle, or nothing would be read
    owner = ThingFactory()
    with held_lock(22), redis.Redis.from_url(settings.CELERY_BROKER_URL) as broker:
        job_id = owner.async_.wait_for_lock(22)
        running(job_id)
        broker.lpush(f"{settings.DEPLOYMENT}:default", b"garbage")
        wait_until(lambda: "Unrecoverable error" in log(), "they are read")
    assert worker.wait(60) != 0
    assert Worker.objects.get(pid=worker.pid).gone_at is not None, log()
    job = ended(job_id)
    assert (job.status, job.attempt, job.crashes) == ("success", 1, 0)
    start_worker(concurrency=1)
    assert ended(owner.async_.echo("after")).status == "success"
