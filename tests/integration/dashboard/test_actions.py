"""The actions of the pages: what they change, what they note, what they refuse, and where they lead back to."""

import pytest
from django.utils import translation

from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, Job, PausedJobType, Queue, Schedule
from tenants.models import Change, TenantQueue
from tests.factories import QueueFactory, TenantFactory, ThingFactory, make_job
from tests.integration.dashboard.reading import said, status
from tests.opened import opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(operator):
    return operator(
        *(
            "change_tenantqueue",
            "view_tenantqueue",
            "change_queue",
            "change_job",
            "change_deadletter",
            "view_deadletter",
        ),
        *("add_pausedjobtype", "delete_pausedjobtype", "change_schedule", "view_job", "view_queue"),
    )


class TestLimits:
    def test_slots_are_changed_noted_and_told(self, admin):
        tenant, other = TenantFactory(name="Owner & Co.", slug="acme"), TenantFactory()
        response = admin.post("/ops/tenants/acme/change", {"num_slots": "7", "next": "/ops/tenants/?q=a"})
        assert response["Location"] == "/ops/tenants/?q=a"
        assert "Owner & Co.: slots 2 → 7." in said(response)
        assert TenantQueue.objects.get(tenant=tenant).num_slots == 7
        assert TenantQueue.objects.get(tenant=other).num_slots == 2
        change = Change.objects.get()
        assert (change.who, change.values) == (admin.user.username, {"num_slots": [2, 7]})

    def test_days_of_history_and_other_queues_are_changed(self, admin):
        tenant = TenantFactory(name="Acme", slug="acme")
        response = admin.post("/ops/tenants/acme/change", {"history_days": "30", "queues": "mail, critical"})
        assert "Acme: history (days) none → 30, other queues none → mail, critical." in said(response)
        row = TenantQueue.objects.get(tenant=tenant)
        assert (row.history_days, row.queues) == (30, ["mail", "critical"])
        assert "history_days: " in said(admin.post("/ops/tenants/acme/change", {"history_days": "0"}))
        admin.post("/ops/tenants/acme/change", {"history_days": "", "queues": ""})
        row.refresh_from_db()
        assert (row.history_days, row.queues) == (None, [])

    def test_slots_in_single_queues_are_changed_as_text(self, admin):
        tenant, stranger = TenantFactory(name="Acme", slug="acme"), TenantFactory()
        QueueFactory(name="mail"), QueueFactory(name="exports")
        response = admin.post("/ops/tenants/acme/change", {"queue_slots": "exports=3, mail=1"})
        assert "Acme: slots by queue none → exports=3, mail=1." in said(response)
        assert TenantQueue.of(tenant).queue_slots == {"exports": 3, "mail": 1}
        form = opened(admin.get("/ops/tenants/acme/"))
        assert form["queue_slots"] == ["exports=3, mail=1"]
        assert "nothing was changed" in said(admin.post("/ops/tenants/acme/change", form))
        Queue.objects.filter(name="exports").delete()
        admin.post("/ops/tenants/acme/change", form | {"weight": "3"})
        assert (TenantQueue.of(tenant).weight, TenantQueue.of(tenant).queue_slots) == (3, {"exports": 3, "mail": 1})
        admin.post("/ops/tenants/acme/change", {"queue_slots": ""})
        assert TenantQueue.of(tenant).queue_slots == TenantQueue.of(stranger).queue_slots == {}

    @pytest.mark.django_db(transaction=True)
    def test_a_raised_limit_starts_what_waited(self, admin, register, sent):
        register(concurrency=4)
        tenant = TenantFactory(slug="acme")
        TenantQueue.objects.filter(tenant=tenant).update(num_slots=0)
        job = make_job(tenant)
        admin.post("/ops/tenants/acme/change", {"num_slots": "1"})
        assert [claimed.id for claimed in sent] == [job.pk]

    def test_only_the_fields_of_the_form_change(self, admin):
        tenant = TenantFactory(slug="acme")
        TenantQueue.objects.filter(tenant=tenant).update(user_slots=1, weight=3)
        admin.post("/ops/tenants/acme/change", {"user_slots": "", "paused": "1"})
        row = TenantQueue.objects.get(tenant=tenant)
        assert (row.user_slots, row.paused, row.weight, row.num_slots) == (None, True, 3, 2)

    def test_limits_that_change_while_the_page_is_open_stay(self, admin):
        """Slots that somebody took away in an emergency; but who changes half of a rate limit means the whole."""
        TenantFactory(slug="acme")
        TenantQueue.objects.update(rate_limit=5, rate_window=60)
        form = opened(admin.get("/ops/tenants/acme/"))
        TenantQueue.objects.update(num_slots=0, rate_limit=10)
        admin.post("/ops/tenants/acme/change", form | {"weight": "3", "rate_window": "600"})
        row = TenantQueue.objects.get()
        assert (row.num_slots, row.weight, row.rate_limit, row.rate_window) == (0, 3, 5, 600)

    def test_a_tenant_without_a_row_gets_no_slots_by_another_change(self, admin):
        tenant = TenantFactory(slug="acme")
        TenantQueue.objects.all().delete()
        admin.post("/ops/tenants/acme/change", {"weight": "2"})
        assert TenantQueue.objects.get(tenant=tenant).num_slots == 0

    def test_a_refusal_gives_a_tenant_without_a_row_none(self, admin):
        TenantFactory(slug="acme")
        TenantQueue.objects.all().delete()
        assert "weight: " in said(admin.post("/ops/tenants/acme/change", {"weight": "0"}))
        assert not TenantQueue.objects.exists()

    @pytest.mark.parametrize(
        ("form", "told"),
        [
            ({"num_slots": "-1"}, "num_slots: must be 0 or more."),
            ({"num_slots": "many", "weight": "x"}, "weight: Enter a whole number."),
            ({"num_slots": "9" * 5000}, "num_slots: "),
            ({"rate_limit": "5"}, "rate_window: A rate limit needs a window"),
            ({"rate_limit": "5", "rate_window": "nan"}, "rate_window: Enter a number."),
            ({"rate_limit": "5", "rate_window": "1e999"}, "rate_window: "),
            ({"queues": "mail,,critical"}, "queues: Item 2"),
            ({"queues": "a\x00b"}, "queues: "),
            ({"queue_slots": "mail=x"}, "queue_slots: Give each queue from 1 to 10,000 slots, such as exports=3."),
            ({"queue_slots": "nowhere=2"}, "queue_slots: There is no queue nowhere."),
            ({"num_slots": "2"}, "nothing was changed"),
            ({"slots": "2"}, "nothing was changed"),
        ],
    )
    def test_a_limit_that_does_not_fit_is_refused_by_name_and_changes_nothing(self, admin, form, told):
        TenantFactory(slug="acme")
        before = list(TenantQueue.objects.values())
        with translation.override("de"):
            response = admin.post("/ops/tenants/acme/change", form)
        assert (response.status_code, list(TenantQueue.objects.values())) == (303, before)
        assert told in said(response)

    def test_a_queue_is_changed_and_paused(self, admin):
        QueueFactory(name="mail")
        admin.post("/ops/queues/mail/change", {"concurrency": "4", "rate_limit": "10", "rate_window": "0.5"})
        response = admin.post("/ops/queues/mail/change", {"paused": "1"})
        queue = Queue.objects.get(name="mail")
        assert (queue.concurrency, queue.rate_limit, queue.rate_window, queue.paused) == (4, 10, 0.5, True)
        assert "Queue mail is paused." in said(response)
        response = admin.post("/ops/queues/mail/change", {"default_timeout": "2.5", "backoff_grows": "False"})
        assert "Queue mail: default timeout none → 2.5, backoff grows yes → no." in said(response)
        response = admin.post("/ops/queues/mail/change", {"pool": "heavy", "concurrency": "1000000"})
        assert "Queue mail: pool default → heavy, concurrency 4 → 1,000,000." in said(response)

    def test_a_missing_subject_is_not_found(self, admin):
        for path in ("tenants/nobody/change", "queues/none/change", "schedules/1/act", f"schedules/{2**70}/act"):
            assert admin.post(f"/ops/{path}", {"weight": "2", "verb": "pause"}).status_code == 404


class TestJobTypes:
    def test_a_type_is_paused_and_resumed(self, admin):
        job = make_job(TenantFactory(), source_type="reports.datareport", source_method="execute")
        response = admin.post("/ops/types/pause", {"type": "reports.datareport.execute"})
        assert "1 waiting jobs are held" in said(response)
        assert Job.objects.get(pk=job.pk).due_at == HELD_UNTIL
        response = admin.post("/ops/types/resume", {"type": "reports.datareport.execute"})
        assert "1 jobs are released" in said(response)
        assert not PausedJobType.objects.exists()
        assert list(Change.objects.order_by("pk").values_list("verb", flat=True)) == ["added", "deleted"]

    @pytest.mark.parametrize("verb", ["pause", "resume"])
    @pytest.mark.parametrize("name", ["", "nonsense", "no.such.thing", "a\x00b.c"])
    def test_an_unknown_type_is_refused(self, admin, verb, name):
        response = admin.post(f"/ops/types/{verb}", {"type": name})
        assert response.status_code == 303
        assert said(response)
        assert not PausedJobType.objects.exists()


class TestJobs:
    def test_waiting_jobs_are_cancelled_and_running_ones_asked_to_stop(self, admin):
        tenant = TenantFactory()
        waits, runs, ended = (make_job(tenant, one) for one in (Status.CREATED, Status.RUNNING, Status.SUCCESS))
        response = admin.post("/ops/jobs/cancel", {"ids": [waits.pk, runs.pk, ended.pk]})
        assert (status(waits), status(runs), status(ended)) == ("cancelled", "running", "success")
        assert Job.objects.get(pk=runs.pk).cancel_requested_at is not None
        told = said(response)
        assert "Cancelled 1 job. Asked 1 job to stop" in told
        assert "Too late for 1 job" in told
        assert set(Change.objects.values_list("verb", "subject_id")) == {
            ("cancelled", str(waits.pk)),
            ("asked to stop", str(runs.pk)),
        }

    def test_jobs_that_ended_badly_are_revived_and_the_others_skipped(self, admin):
        tenant = TenantFactory()
        failed, done = make_job(tenant, Status.ERROR), make_job(tenant, Status.SUCCESS)
        response = admin.post("/ops/jobs/revive", {"ids": [failed.pk, done.pk, 10**15]})
        assert (status(failed), status(done)) == ("created", "success")
        assert "Revived 1 job. Skipped 2 jobs" in said(response)

    @pytest.mark.parametrize("ids", [[], ["x"], ["9" * 30], list(range(1, 700))])
    def test_a_selection_of_none_or_of_too_many_is_refused(self, admin, ids):
        job = make_job(TenantFactory())
        for verb in ("cancel", "revive"):
            assert admin.post(f"/ops/jobs/{verb}", {"ids": ids}).status_code == 303
        assert status(job) == "created"


class TestSchedules:
    @pytest.fixture
    def schedule(self):
        thing = ThingFactory()
        call = {"source_type": "sample.thing", "source_id": str(thing.pk), "source_method": "echo"}
        QueueFactory(name="default")
        return Schedule.objects.create(tenant=thing.tenant, name="nightly", every=60, **call)

    def test_a_schedule_is_paused_resumed_and_run(self, admin, schedule):
        for verb, paused, jobs in (("pause", True, 0), ("resume", False, 0), ("run", False, 1)):
            response = admin.post(f"/ops/schedules/{schedule.pk}/act", {"verb": verb})
            schedule.refresh_from_db()
            assert (schedule.paused, Job.objects.count()) == (paused, jobs), said(response)
        assert Change.objects.filter(verb="changed").count() == 2
        assert Change.objects.filter(verb="run by hand", who=admin.user.username).count() == 1

    def test_another_verb_is_refused(self, admin, schedule):
        assert "must be one of pause, resume, run" in said(
            admin.post(f"/ops/schedules/{schedule.pk}/act", {"verb": "x"})
        )


@pytest.mark.parametrize("there", ["https://evil.example/", "//evil.example/ops/", "/admin/", "/ops/\\evil", ""])
def test_an_action_leads_back_to_these_pages_only(admin, there):
    TenantFactory(slug="acme")
    response = admin.post("/ops/tenants/acme/change", {"num_slots": "3", "next": there})
    assert response["Location"].startswith("/ops/")


def test_a_theme_is_kept_in_a_cookie(admin):
    response = admin.post("/ops/theme", {"theme": "dark", "next": "/ops/jobs/"})
    assert (response.status_code, response["Location"]) == (303, "/ops/jobs/")
    assert 'data-theme="dark"' in admin.get("/ops/jobs/").content.decode()
    admin.cookies["theme"] = '"><script>'
    assert "data-theme" not in admin.get("/ops/jobs/").content.decode()
