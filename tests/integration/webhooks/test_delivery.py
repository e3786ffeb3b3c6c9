"""Messages to a real server: in order, once for each back-off while it fails; nobody notices one that hangs."""

import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.engine.webhooks import couriers as delivery
from jobs.engine.webhooks import endpoints, outbox, posting
from jobs.engine.webhooks.couriers import Couriers
from jobs.models import WebhookEndpoint
from tenants.models import Change
from tests.clock import call_at
from tests.factories import TenantFactory
from tests.integration.webhooks.conftest import deliver, ends, left
from tests.unit.webhooks.test_webhook_posting import HOST, TAKEN

pytestmark = pytest.mark.django_db
DATE = "Date: Sat, 01 Jan 2000 00:00:00 GMT\r\n"  # of a clock of the receiver's, years behind ours
ASKED = [("120", 120), ("Sat, 01 Jan 2000 00:02:00 GMT", 120), ("3", 5), ("9999999", 3600), ("soon", 5)]


class TestInOrder:
    def test_all_of_them_each_once_and_counted(self, endpoint, customer, owner):
        jobs = ends(endpoint, 2 * outbox.TURN_MESSAGES + 1)
        deliver()
        assert (customer.told, left()) == (jobs, [])
        (mine,) = owner.get("/api/v1/webhooks").json()["webhooks"]
        assert (mine["delivered"], mine["failed"], mine["waiting"]) == (len(jobs), 0, 0)

    def test_while_it_fails_one_probe_for_each_back_off_and_then_all_in_order(self, endpoint, customer):
        jobs = ends(endpoint, 5)
        customer.status, now = 503, timezone.now()
        for rest in (5, 10, 20, 40, 80, 160, 320, 600, 600):
            deliver(now)
            deliver(now + timedelta(seconds=rest - 1))
            now += timedelta(seconds=rest)
        endpoint.refresh_from_db()
        assert customer.told == [jobs[0]] * 9
        assert (endpoint.failures, endpoint.last_error, left()) == (9, "the answer was 503", jobs)
        customer.status = 204
        deliver(now)
        assert customer.told[9:] == jobs
        endpoint.refresh_from_db()
        assert (endpoint.failures, endpoint.failing_since, endpoint.next_at) == (0, None, None)

    def test_one_message_that_is_refused_by_an_answer_does_not_hold_up_the_others_for_ever(self, endpoint, customer):
        jobs = ends(endpoint, 3)
        customer.refuses, now = {jobs[0]}, timezone.now()
        for _ in range(outbox.MOST_TRIES):
            deliver(now)
            now += timedelta(seconds=outbox.LONGEST_REST)
        assert customer.told == [jobs[0]] * outbox.MOST_TRIES
        deliver(now)
        assert (customer.told[outbox.MOST_TRIES :], left()) == (jobs[1:], jobs[:1])
        customer.refuses = set()
        deliver(now + timedelta(seconds=outbox.ASIDE_SECONDS))
        assert (customer.told[-1], left()) == (jobs[0], [])

    def test_a_message_tried_now_does_not_wait_for_the_next_try(self, endpoint, customer):
        jobs = ends(endpoint, 2)
        customer.status = 503
        deliver()
        customer.status = 204
        deliver()
        assert customer.told == jobs[:1]
        endpoints.try_now(endpoint)
        deliver()
        assert left() == []


class TestSwitchedOff:
    def test_an_endpoint_down_for_three_days_is_off_and_gets_younger_messages_when_on(self, endpoint, customer):
        now = begins = timezone.now()
        customer.status = 503
        late = timedelta(days=2.9)
        jobs = ends(endpoint, 3, at=begins) + ends(endpoint, 2, at=begins + late)
        while now < begins + timedelta(days=3, hours=2):
            deliver(now)
            now += timedelta(hours=1)
        assert customer.told == [jobs[0]] * (3 * 24 + 2)
        endpoint.refresh_from_db()
        assert endpoint.off_at == begins + timedelta(days=3, hours=1)
        assert Change.objects.filter(tenant_id=endpoint.tenant_id, verb="switched off").count() == 1
        call_at(now, outbox.drop)
        assert left() == jobs[3:]
        customer.status = 204
        endpoints.switch_on(endpoint)
        deliver(now)
        assert customer.told[-2:] == jobs[3:]

    def test_not_by_an_outage_of_ours_in_which_nobody_tried(self, endpoint, customer):
        ends(endpoint, 1)
        customer.status, now = 503, timezone.now()
        deliver(now)
        later = now + timedelta(days=70)
        for minutes in (0, 10):
            deliver(later + timedelta(minutes=minutes))
        endpoint.refresh_from_db()
        assert (len(customer.told), endpoint.off_at, endpoint.failing_since) == (3, None, later)

    def test_at_once_by_410(self, endpoint, customer):
        jobs = ends(endpoint, 2)
        customer.status = 410
        deliver()
        deliver(timezone.now() + timedelta(hours=1))
        endpoint.refresh_from_db()
        assert endpoint.off_at
        assert (customer.told, left()) == (jobs[:1], jobs)
        assert Change.objects.get(verb="switched off").values == {"why": ["", "the answer was 410"]}

    @pytest.mark.parametrize(("asked", "rests"), ASKED)
    def test_an_endpoint_rests_as_long_as_it_asks_but_not_for_ever(self, endpoint, customer, asked, rests):
        ends(endpoint, 1)
        customer.status, customer.more, now = 429, f"{DATE}Retry-After: {asked}\r\n", timezone.now()
        deliver(now)
        endpoint.refresh_from_db()
        assert endpoint.next_at - now == timedelta(seconds=rests)


class TestOtherEndpoints:
    def test_an_endpoint_that_never_answers_holds_up_itself_alone(self, endpoint, customer, serve):
        answers = threading.Event()
        mute = serve(lambda connection_: answers.wait(30) and connection_.sendall(TAKEN))
        stranger = endpoints.add(TenantFactory(), f"https://{HOST}:{mute.port}/")[0]
        jobs = ends(endpoint, 3)
        theirs = ends(stranger, 2)
        couriers = Couriers()
        couriers.take()
        while left() != theirs:
            couriers.note()
        assert (customer.told, couriers.busy, len(mute.heard)) == (jobs, True, 1)
        more = ends(endpoint, 1)
        couriers.take()
        while left() != theirs:
            couriers.note()
        assert customer.told == jobs + more
        answers.set()
        while couriers.busy:
            couriers.note()
        assert left() == []

    def test_failing_endpoints_leave_half_of_the_threads_to_the_others(self, customer, monkeypatch, tenant):
        monkeypatch.setattr(delivery, "MOST", 4)
        monkeypatch.setattr(delivery, "MOST_FAILING", 2)
        answers = threading.Event()
        monkeypatch.setattr(posting, "post", lambda *_: answers.wait(30) and None)
        failing = [endpoints.add(tenant, customer.url)[0] for _ in range(5)]
        WebhookEndpoint.objects.update(failures=1)
        for one in failing:
            ends(one, 1)
        couriers = Couriers()
        couriers.take()
        assert WebhookEndpoint.objects.filter(taken_until__isnull=False).count() == 2
        for _ in range(3):
            ends(endpoints.add(TenantFactory(), customer.url)[0], 1)
        couriers._looks_at = 0.0
        couriers.take()
        assert WebhookEndpoint.objects.filter(taken_until__isnull=False).count() == 4
        answers.set()
        while couriers.busy:
            couriers.note()

    def test_a_turn_ends_after_its_time_so_that_others_have_theirs(self, endpoint, customer, monkeypatch):
        monkeypatch.setattr(outbox, "TURN_SECONDS", -1.0)
        ends(endpoint, 1)
        couriers = Couriers()
        couriers.take()
        while couriers.busy:
            couriers.note()
        endpoint.refresh_from_db()
        assert (customer.told, endpoint.taken_until) == ([], None)
        (turn,) = outbox.take(1, failing=False)
        assert turn.endpoint == endpoint.pk
