"""Senders that die, or are two; and people who hold a row: nothing is lost, and one at a time posts to an endpoint."""

import os
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from embedded import REPOSITORY
from jobs.engine.webhooks import endpoints, outbox
from jobs.engine.webhooks.couriers import Couriers
from jobs.engine.webhooks.posting import NotDelivered
from jobs.engine.webhooks.postman import Postman
from jobs.models import WebhookEndpoint, WebhookHour
from tests.clock import call_at
from tests.factories import TenantFactory, database_url
from tests.integration.webhooks.conftest import deliver, ends, left
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

# Of a process for which the customer's name is that of this machine.
RESOLVES = """
import socket
resolve = socket.getaddrinfo
socket.getaddrinfo = lambda host, *of, **more: resolve("127.0.0.1" if "customer" in str(host) else host, *of, **more)
"""


@pytest.fixture
def environ(certificate, tmp_path) -> dict[str, str]:
    """In which a process believes the customer's certificate, and finds its name."""
    (tmp_path / "sitecustomize.py").write_text(RESOLVES)
    path = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
    return {**os.environ, "PYTHONPATH": path, "SSL_CERT_FILE": str(certificate / "cert.pem")}


def test_the_last_message_of_a_killed_sender_comes_again_under_the_same_number(customer, endpoint, environ):
    jobs = ends(endpoint, 3)
    environ |= {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "scheduler_project.settings"}
    command = [sys.executable, "manage.py", "clock"]
    sender = subprocess.Popen(command, cwd=REPOSITORY, env={**environ, "JOBS_WEBHOOK_NETWORKS": "127.0.0.0/8"})

    def kill_at_the_second() -> None:
        if customer.told[-1] == jobs[1] and sender.poll() is None:
            os.kill(sender.pid, signal.SIGKILL)
            sender.wait()

    customer.meanwhile = kill_at_the_second
    try:
        wait_until(lambda: sender.poll() is not None, "the sender posts the second message, and dies")
    finally:
        sender.kill()
        sender.wait()
    deliver()
    assert customer.told == jobs[:2], "the endpoint is taken until its time is over"
    deliver(timezone.now() + timedelta(seconds=outbox.LEASE_SECONDS))
    assert (sorted(set(customer.told)), customer.told[-2:], left()) == (jobs, jobs[1:], [])
    assert len({line for heard in customer.server.heard for line in heard.split(b"\r\n") if b"webhook-id" in line}) == 3


def test_the_process_that_posts_is_started_again_when_it_has_died_and_ends_with_its_parent(
    customer, endpoint, environ, monkeypatch
):
    monkeypatch.syspath_prepend(environ["PYTHONPATH"].partition(os.pathsep)[0])
    monkeypatch.setenv("SSL_CERT_FILE", environ["SSL_CERT_FILE"])
    postman = Postman()
    jobs = ends(endpoint, 3)
    customer.refuses = {jobs[2]}

    def deliver_at(moment) -> None:
        couriers = Couriers(post=postman.post)
        call_at(moment, couriers.take)
        while couriers.busy:
            call_at(moment, couriers.note)

    deliver_at(timezone.now())
    assert (customer.told, left()) == (jobs, jobs[2:])
    assert WebhookEndpoint.objects.get().last_error == "the answer was 500"
    first = postman._process
    first.kill()
    wait_until(lambda: first.stdout.closed and first.stdin.closed, "nothing of it is left")
    customer.refuses = set()
    deliver_at(timezone.now() + timedelta(minutes=1))
    assert left() == []
    second = postman._process
    second.stdin.close()
    wait_until(lambda: second.stdout.closed and second.returncode == 0, "it ends as its parent would")


def test_while_it_posts_it_holds_no_lock_and_no_transaction(customer, endpoint, onlooker):
    seen = []

    def look() -> None:
        for table in ("webhook_endpoints", "webhook_messages"):
            seen.append(len(onlooker.execute(f"SELECT FROM {table} FOR UPDATE NOWAIT").fetchall()))
        asked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
        seen.append(onlooker.execute(asked).fetchone()[0])

    customer.meanwhile = look
    ends(endpoint, 1)
    deliver()
    assert seen == [1, 1, 0]


def test_two_senders_never_take_one_endpoint(elsewhere, customer, tenant):
    for owner in (tenant, TenantFactory()):
        for _ in range(6):
            ends(endpoints.add(owner, customer.url)[0], 1)
    takes = [elsewhere(outbox.take, 4, failing=False) for _ in range(6)]
    turns = [turn for take in takes for turn in take.result()]
    turns += outbox.take(32, failing=False)
    assert len({turn.endpoint for turn in turns}) == len(turns) == 12
    assert outbox.take(32, failing=False) == []


def test_a_sender_that_was_held_up_notes_what_it_delivered_and_no_more(customer, endpoint):
    jobs = ends(endpoint, 3)
    (late,) = outbox.take(1, failing=False)
    later = timezone.now() + timedelta(seconds=outbox.LEASE_SECONDS)
    (present,) = call_at(later, outbox.take, 1, failing=False)
    outbox.note(late, jobs[:1], jobs[1], NotDelivered("the answer was 410", 410))
    now = WebhookEndpoint.objects.get()
    assert (left(), now.off_at, now.failures, now.turn) == (jobs[1:], None, 0, present.turn)
    assert now.taken_until > later
    outbox.note(late, [])
    assert WebhookEndpoint.objects.get().taken_until == now.taken_until
    outbox.note(present, jobs[1:])
    assert WebhookEndpoint.objects.get().taken_until is None
    assert WebhookHour.objects.get().delivered == 2


def test_an_endpoint_that_somebody_holds_or_removes_delays_no_other(customer, endpoint, onlooker):
    other = endpoints.add(TenantFactory(), customer.url)[0]
    third = endpoints.add(TenantFactory(), customer.url)[0]
    (first,), (second,), (gone,) = (ends(one, 1) for one in (endpoint, other, third))
    onlooker.execute("BEGIN")
    onlooker.execute("UPDATE webhook_endpoints SET url = url WHERE id = %s", [endpoint.pk])
    customer.meanwhile = lambda: customer.told[-1] == gone and WebhookEndpoint.objects.filter(pk=third.pk).delete()
    deliver()
    assert (sorted(customer.told), left()) == ([second, gone], [first])
    onlooker.execute("ROLLBACK")
    deliver()
    assert left() == []


def test_a_posted_message_that_cannot_be_noted_is_noted_later_and_not_posted_again(customer, endpoint, monkeypatch):
    jobs = ends(endpoint, 2)
    note, fails = outbox.note, iter([OperationalError, OperationalError])

    def fail_twice(*of, **more) -> None:
        for error in fails:
            raise error
        note(*of, **more)

    monkeypatch.setattr(outbox, "note", fail_twice)
    couriers, failed = Couriers(), 0
    couriers.take()
    while couriers.busy:
        try:
            couriers.note()
        except OperationalError:
            failed += 1
    assert (customer.told, left(), failed) == (jobs, [], 2)
    connection.close()
