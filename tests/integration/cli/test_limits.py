"""`manage.py tenants slots` and `manage.py queues`: what they show, that a change works at once, what they refuse."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.console.ops.shared import snapshot
from jobs.models import Job, Queue, QueueTurn
from jobs.reading import looking
from tenants.models import TenantQueue
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.integration.cli.running import refusal, run

pytestmark = pytest.mark.django_db(transaction=True)


def slots(*words: object) -> list[dict]:
    return json.loads(run("tenants", "slots", *words, "--json"))["tenants"]


def queues(*words: object) -> list[dict]:
    return json.loads(run("queues", *words, "--json"))["queues"]


def held() -> int:
    return Job.objects.filter(slot__isnull=False).count()


@pytest.fixture
def tenant():
    return TenantFactory(slug="acme", name="Acme", queue__num_slots=2)


class TestSlots:
    def test_all_tenants_with_what_they_hold_and_what_waits(self, tenant):
        TenantFactory(slug="new", queue=None)
        make_job(tenant, "running")
        for _ in range(3):
            make_job(tenant)
        acme, new = slots()
        assert (acme["tenant"], acme["num_slots"], acme["in_use"], acme["waiting"]) == ("acme", 2, 1, 3)
        assert (new["num_slots"], new["weight"], new["in_use"]) == (0, None, 0)
        lines = run("tenants", "slots").splitlines()
        assert lines[1].split() == ["acme", "2", "–", "1", "3", "–", "1", "–", "waiting"]
        assert lines[2].rstrip().endswith("no slots")

    def test_a_tenant_is_in_the_state_that_the_pages_say_and_no_stranger_changes_it(self, tenant, register):
        register(concurrency=1)
        full, paused = TenantFactory(slug="full", queue__num_slots=1), TenantFactory(slug="off", queue__paused=True)
        make_job(full, "running"), make_job(full), make_job(paused)
        make_job(tenant, "running")
        TenantFactory(slug="quiet")
        snapshot.forget()  # that of another test
        told = {line["tenant"]: line["state"] for line in slots()}
        assert told == {"acme": "busy", "full": "full", "off": "paused", "quiet": "idle"}
        assert {standing.tenant.slug: standing.state for standing in snapshot.current().standings} == {
            slug: state for slug, state in told.items() if slug != "quiet"
        }

    def test_a_number_that_is_not_exact_says_so(self, tenant, monkeypatch):
        monkeypatch.setattr(looking, "MAX_COUNTED", 2)
        for _ in range(3):
            make_job(tenant)
        (line,) = slots("acme")
        assert (line["waiting"], line["waiting_about"]) == (3, True)
        assert "about 3" in run("tenants", "slots", "acme")
        assert "about 3" in run("queues")

    def test_raising_them_dispatches_at_once(self, tenant, register):
        register()
        slots("acme", "--set", 0)
        for _ in range(5):
            make_job(tenant)
        assert slots("acme", "--set", 3)[0]["in_use"] == 3

    def test_pause_and_resume(self, tenant, register):
        register()
        assert slots("acme", "--pause")[0]["paused"]
        make_job(tenant)
        slots("acme", "--weight", 2)
        assert held() == 0
        assert "paused" in run("tenants", "slots", "acme")
        slots("acme", "--resume")
        assert held() == 1

    def test_the_other_limits_and_none(self, tenant):
        (line,) = slots("acme", "--user-slots", 1, "--weight", 3, "--rate", "100/2592000")
        assert (line["user_slots"], line["weight"], line["rate_limit"], line["rate_window"]) == (1, 3, 100, 2_592_000)
        assert "100/2592000" in run("tenants", "slots", "acme")
        (line,) = slots("acme", "--max-waiting", 5000)
        assert (line["max_waiting"], line["user_slots"]) == (5000, 1)
        assert slots("acme", "--max-waiting", "none")[0]["max_waiting"] is None
        assert slots("acme", "--max-waiting", 0)[0]["max_waiting"] == 0
        assert slots("acme", "--history-days", 90)[0]["history_days"] == 90
        assert slots("acme", "--history-days", "none")[0]["history_days"] is None
        (line,) = slots("acme", "--user-slots", "none", "--rate", "none")
        assert (line["user_slots"], line["weight"], line["rate_limit"], line["rate_window"]) == (None, 3, None, None)
        assert line["num_slots"] == 2

    def test_slots_in_single_queues_are_set_one_by_one(self, tenant):
        QueueFactory(name="exports"), QueueFactory(name="mails")
        stranger = TenantFactory()
        assert slots("acme", "--queue", "exports=3")[0]["queue_slots"] == {"exports": 3}
        (line,) = slots("acme", "--queue", "mails=1", "--queue", "exports=2")
        assert line["queue_slots"] == {"exports": 2, "mails": 1}
        assert slots("acme", "--queue", "mails=none", "--set", 5)[0]["queue_slots"] == {"exports": 2}
        assert TenantQueue.of(stranger).queue_slots == {}
        Queue.objects.filter(name="exports").delete()
        assert slots("acme", "--queue", "mails=4")[0]["queue_slots"] == {"exports": 2, "mails": 4}, (
            "what was there stays"
        )

    def test_a_tenant_without_slots_gets_a_row(self):
        TenantFactory(slug="new", queue=None)
        assert slots("new", "--set", 4)[0]["num_slots"] == 4
        assert TenantQueue.objects.get(tenant__slug="new").num_slots == 4

    def test_another_limit_gives_no_slot_by_the_way(self):
        TenantFactory(slug="new", queue=None)
        (line,) = slots("new", "--weight", 2)
        assert (line["num_slots"], line["weight"]) == (0, 2)

    def test_looking_changes_nothing(self):
        TenantFactory(slug="new", queue=None)
        slots("new")
        assert not TenantQueue.objects.filter(tenant__slug="new").exists()

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["no"], "tenant: 'no' is unknown; known: acme"),
            (["--set", "3"], "slug: name the tenant to change"),
            (["acme", "--set", "10001"], "argument --set: must be a whole number from 0 to 10,000, not '10001'"),
            (["acme", "--set", "two"], "argument --set: must be a whole number"),
            (["--max-waiting", "none"], "slug: name the tenant to change"),
            (["acme", "--queue", "exports"], "argument --queue: must be like exports=3"),
            (["acme", "--queue", "exports=0"], "argument --queue: must be a whole number from 1 to 10,000"),
            (["acme", "--queue", "nowhere=1"], "queue_slots: There is no queue nowhere"),
            (["acme", "--rate", "5"], "argument --rate: must be jobs/seconds like 100/60"),
            (["acme", "--rate", "5/inf"], "argument --rate: must be jobs/seconds"),
        ],
    )
    def test_refusals_change_nothing(self, tenant, words, says):
        before = slots()
        assert says in refusal("tenants", "slots", *words)
        assert slots() == before


class TestQueues:
    def test_without_a_word_they_are_listed(self, tenant):
        QueueFactory(name="emails", concurrency=1, rate_limit=2, rate_window=1)
        make_job(tenant, "running", queue=Queue.objects.get(name="emails"))
        make_job(tenant, queue=Queue.objects.get(name="emails"))
        assert queues() == queues("list")
        emails = next(queue for queue in queues() if queue["name"] == "emails")
        assert (emails["in_use"], emails["waiting"], emails["concurrency"], emails["rate_limit"]) == (1, 1, 1, 2)
        (line,) = [line for line in run("queues").splitlines() if line.startswith("emails")]
        assert line.split() == ["emails", "default", "1", "1", "1", "1", "2/1", "full"]

    @pytest.mark.parametrize(
        ("limits", "state"),
        [
            ({}, "waiting"),
            ({"paused": True}, "paused"),
            ({"concurrency": 1}, "full"),
            ({"rate_limit": 1, "rate_window": 600.0}, "limited"),
        ],
    )
    def test_its_state_tells_why_its_jobs_wait(self, tenant, limits, state):
        emails = QueueFactory(name="emails", **limits)
        make_job(tenant, "running", queue=emails)
        make_job(tenant, queue=emails)
        QueueTurn.objects.update(full_at=timezone.now() + timedelta(minutes=10))  # its token is used
        assert next(queue for queue in queues() if queue["name"] == "emails")["state"] == state

    def test_json_may_be_said_before_or_after_the_subcommand(self):
        assert json.loads(run("queues", "--json", "list")) == json.loads(run("queues", "list", "--json"))

    def test_pause_and_resume_work_at_once(self, tenant, register):
        register()
        QueueFactory(name="emails")
        assert queues("pause", "emails")[0]["paused"]
        make_job(tenant, queue=Queue.objects.get(name="emails"))
        queues("set", "emails", "--weight", 2, "--default-timeout", 2.5, "--no-backoff-grows")
        assert held() == 0
        assert Queue.objects.filter(name="emails", weight=2, default_timeout=2.5, backoff_grows=False).exists()
        assert queues("resume", "emails")[0]["in_use"] == 1

    def test_set(self, tenant, register):
        register()
        QueueFactory(name="emails", concurrency=0)
        make_job(tenant, queue=Queue.objects.get(name="emails"))
        (line,) = queues("set", "emails", "--weight", 3, "--concurrency", 4, "--rate", "10/0.5")
        assert (line["weight"], line["concurrency"], line["rate_limit"], line["rate_window"]) == (3, 4, 10, 0.5)
        assert line["in_use"] == 1
        (line,) = queues("set", "emails", "--concurrency", "none", "--rate", "none")
        assert (line["weight"], line["concurrency"], line["rate_limit"], line["rate_window"]) == (3, None, None, None)

    def test_only_what_was_said_is_written(self, monkeypatch):
        """Somebody pauses the queue while its weight is being changed: it stays paused."""
        QueueFactory(name="emails")
        save = Queue.save

        def save_late(queue: Queue, **options) -> None:
            Queue.objects.filter(pk=queue.pk).update(paused=True)
            save(queue, **options)

        monkeypatch.setattr(Queue, "save", save_late)
        queues("set", "emails", "--weight", 7)
        assert Queue.objects.filter(name="emails", paused=True, weight=7).exists()

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["pause", "no"], "queue: 'no' is unknown; known: "),
            (["pause"], "the following arguments are required: name"),
            (["set", "emails"], "set: name a limit to change; see: manage.py queues set --help"),
            (["set", "emails", "--weight", "0"], "argument --weight: must be a whole number from 1 to"),
            (["set", "emails", "--concurrency", "-1"], "; or none"),
            (["set", "emails", "--rate", "x/y"], "argument --rate: must be jobs/seconds"),
            (["lost"], "invalid choice: 'lost'"),
        ],
    )
    def test_refusals_change_nothing(self, words, says):
        QueueFactory(name="emails")
        before = queues()
        assert says in refusal("queues", *words)
        assert queues() == before
