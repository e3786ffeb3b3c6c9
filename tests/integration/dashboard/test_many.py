"""Many jobs at once: chosen, or all that fit; confirmed, done in steps, and never more than was seen."""

import re
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.console.operations import verbs
from jobs.console.ops.bulk_change import view as bulk_change
from jobs.console.ops.shared import past_runs
from jobs.lifecycle import Status
from jobs.models import Job
from jobs.reading import listing
from tenants.models import Change
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.integration.dashboard.reading import said, status, text

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, number in {"MAX_A_REQUEST": 4, "MAX_UNASKED": 3}.items():
        monkeypatch.setattr(bulk_change, name, number)
    monkeypatch.setattr(verbs, "BATCH", 2)


@pytest.fixture
def admin(operator):
    return operator("change_job", "view_job", "change_deadletter", "view_deadletter")


def signed(response) -> str:
    return response.content.decode().partition('name="run" value="')[2].partition('"')[0]


def run(admin, path: str, form) -> list:
    """Confirm, and press the button until it is done; the answers."""
    answers = [admin.post(path, form)]
    signature = signed(answers[0])
    while True:
        answers.append(admin.post(path, {"run": signature, "next": "/ops/dead/"}))
        if "progress" not in answers[-1]["Location"]:
            return answers
        page = admin.get(answers[-1]["Location"])
        assert page.status_code == 200
        signature = signed(page)


class TestRuns:
    @pytest.fixture
    def auditor(self, operator):
        return operator("view_change", "view_job", "view_tenantqueue", "view_worker")

    def test_a_run_is_listed_with_who_what_filter_and_how_many(self, admin, auditor):
        acme, other = TenantFactory(slug="acme", name="Acme"), TenantFactory(name="Other")
        jobs = [make_job(tenant, Status.DEAD, last_error="ValueError: no") for tenant in (acme, acme, other, other)]
        run(admin, "/ops/jobs/revive", {"all": "1", "q": "status:dead", "upto": jobs[-1].pk})
        admin.post("/ops/jobs/cancel", {"ids": [job.pk for job in jobs[:2]]})
        admin.post("/ops/jobs/cancel", {"ids": [jobs[2].pk]})  # one alone is no run
        cancelled, revived = auditor.get("/ops/runs/").context["runs"]
        assert (revived.who, revived.filters, revived.outcomes) == (admin.user.username, "status:dead", {"revived": 4})
        assert (cancelled.filters, cancelled.outcomes, cancelled.tenants) == ("", {"cancelled": 2}, {acme.pk: 2})
        assert revived.tenants == {acme.pk: 2, other.pk: 2}
        assert f"/ops/runs/{revived.bulk}/" in text(auditor.get("/ops/runs/"))
        assert f"/ops/runs/{revived.bulk}/" in text(auditor.get("/ops/health/"))

    def test_its_page_tells_how_it_went_on(self, admin, auditor, operator):
        tenant = TenantFactory(name="Acme")
        again, well, gone = (make_job(tenant, Status.DEAD, last_error="ValueError: no") for _ in range(3))
        admin.post("/ops/jobs/revive", {"ids": [again.pk, well.pk, gone.pk]})
        stranger = make_job(TenantFactory(), Status.DEAD)
        [past] = auditor.get("/ops/runs/").context["runs"]
        Job.objects.filter(pk__in=[again.pk, well.pk, gone.pk]).delete()
        make_job(tenant, Status.DEAD, pk=again.pk)
        make_job(tenant, Status.SUCCESS, pk=well.pk)
        page = text(auditor.get(f"/ops/runs/{past.bulk}/"))
        for told in ("1 failed again.", "1 in the history, or deleted", ">Acme</a>: 3", f"/ops/jobs/{again.pk}/"):
            assert told in " ".join(page.split())
        assert f"/ops/jobs/{stranger.pk}/" not in page
        assert f"/ops/jobs/{again.pk}/" not in text(operator("view_change").get(f"/ops/runs/{past.bulk}/"))

    def test_the_list_reads_a_bounded_part_of_the_log_and_shows_no_half_run(self, auditor, monkeypatch):
        for bulk in (first := uuid.uuid4(), second := uuid.uuid4()):
            for tenant in (1, 2):
                entry = {"verb": "revived", "kind": "jobs.job", "subject_id": "1", "subject": "job 1"}
                Change.objects.create(who="ines", bulk=bulk, tenant_id=tenant, **entry)
        assert [run.bulk for run in past_runs.past_runs()] == [second, first]
        monkeypatch.setattr(past_runs, "MAX_ENTRIES", 3)
        assert [run.bulk for run in past_runs.past_runs()] == [second]

    def test_an_unknown_run_is_not_found(self, auditor):
        page = auditor.get(f"/ops/runs/{uuid.uuid4()}/")
        assert (page.status_code, "There is no such bulk action" in page.content.decode()) == (404, True)


class TestDeadLetters:
    @pytest.fixture
    def dead(self):
        now, tenant = timezone.now(), TenantFactory(slug="acme")
        return [
            make_job(tenant, Status.DEAD, last_error="ValueError: no", died_at=now - timedelta(minutes=20 * n))
            for n in range(10)
        ]

    def form(self, **more):
        upto = (timezone.now() + timedelta(seconds=1)).isoformat()
        return {"all": "1", "upto": upto, "type": "reports.datareport.execute", "error": "ValueError", **more}

    def test_a_few_chosen_ones_are_revived_at_once(self, admin, dead):
        response = admin.post("/ops/dead/revive", {"ids": [dead[0].pk, dead[1].pk, 10**15]})
        assert "Revived 2 jobs." in said(response)
        assert [status(job) for job in dead[:3]] == ["created", "created", "dead"]

    def test_among_dead_letters_no_other_job_is_revived(self, admin, dead):
        failed = make_job(TenantFactory(), Status.ERROR)
        assert "Only jobs with status error, dead or cancelled can be revived" in said(
            admin.post("/ops/dead/revive", {"ids": [failed.pk]})
        )
        assert status(failed) == "error"

    def test_many_are_confirmed_with_examples_and_then_done_in_steps(self, admin, dead):
        other = make_job(TenantFactory(), Status.DEAD, last_error="TypeError: no")
        answers = run(admin, "/ops/dead/revive", self.form())
        page = text(answers[0])
        assert "Revive 10 dead jobs?" in page
        assert page.count("ValueError: no") == 3
        assert len(answers) == 4  # the confirmation, and 4 + 4 + 2
        assert "Revived 10 jobs." in said(answers[-1])
        assert {status(job) for job in dead} == {"created"}
        assert status(other) == "dead"
        change = Change.objects.get(verb="revived")
        assert (change.subject, change.subjects.count()) == ("10 jobs", 10)

    def test_nothing_happens_before_the_confirmation_and_discarding_always_asks(self, admin, dead):
        admin.post("/ops/dead/revive", self.form())
        response = admin.post("/ops/dead/discard", {"ids": [dead[0].pk]})
        assert "Discard 1 dead job?" in text(response)
        assert {status(job) for job in dead} == {"dead"}
        admin.post("/ops/dead/discard", {"run": signed(response)})
        assert status(dead[0]) == "cancelled"

    def test_a_job_that_died_after_the_page_was_shown_stays(self, admin, dead):
        run(admin, "/ops/dead/discard", self.form(upto=dead[5].died_at.isoformat()))
        assert [status(job) for job in dead] == ["dead"] * 5 + ["cancelled"] * 5

    def test_a_group_is_taken_by_the_shape_of_its_error_and_no_other_of_the_class(self, admin, dead):
        tenant = dead[0].tenant
        late = [make_job(tenant, Status.DEAD, last_error=f"ValueError: row {n} is late") for n in range(6)]
        unknown = make_job(tenant, Status.DEAD, last_error="")
        answers = run(admin, "/ops/dead/revive", self.form(error="", like="ValueError: row # is late"))
        assert "Revived 6 jobs." in said(answers[-1])
        assert ({status(job) for job in late}, {status(job) for job in dead}) == ({"created"}, {"dead"})
        admin.post("/ops/dead/revive", self.form(error="", like="no error was noted"))
        assert (status(unknown), {status(job) for job in dead}) == ("created", {"dead"})

    def test_only_those_of_the_last_hour_are_taken(self, admin, dead):
        admin.post("/ops/dead/revive", self.form(since="1h"))
        assert [status(job) for job in dead[:4]] == ["created", "created", "created", "dead"]

    @pytest.mark.parametrize(
        "more",
        [
            {"type": "", "error": ""},
            {"upto": ""},
            {"upto": "2026-99-99T00:00Z"},
        ],
    )
    def test_a_selection_without_a_filter_or_an_end_is_refused(self, admin, dead, more):
        response = admin.post("/ops/dead/revive", self.form(**more))
        assert "Filter the dead letters first" in said(response)
        assert {status(job) for job in dead} == {"dead"}

    def test_a_run_is_its_operators_own_and_cannot_be_forged_or_turned_into_another(self, admin, operator, dead):
        signature = signed(admin.post("/ops/dead/revive", self.form()))
        other = operator("change_deadletter")
        for client, forged in ((other, signature), (admin, signature[:-1] + "x"), (admin, ""), (admin, "{}")):
            assert client.post("/ops/dead/revive", {"run": forged}).status_code == 404
            assert client.get("/ops/dead/revive/progress", {"run": forged}).status_code == 404
        for path in ("/ops/dead/discard", "/ops/jobs/revive"):
            assert admin.post(path, {"run": signature}).status_code == 404
        assert {status(job) for job in dead} == {"dead"}

    def test_a_run_whose_queue_was_removed_meanwhile_ends_with_the_reason(self, admin, dead):
        queue = QueueFactory(name="removed")
        Job.objects.update(queue=queue)
        signature = signed(admin.post("/ops/dead/revive", self.form(queue="removed")))
        Job.objects.update(queue=1)
        queue.delete()
        assert "Queue: 'removed' is unknown" in said(admin.post("/ops/dead/revive", {"run": signature}))


class TestJobs:
    @pytest.fixture
    def jobs(self):
        tenant = TenantFactory(slug="acme")
        return [make_job(tenant, user_key="ines") for _ in range(10)]

    def form(self, admin, q: str = "tenant:acme user:ines") -> dict[str, str]:
        """What the page sends."""
        page = text(admin.get("/ops/jobs/", {"q": q}))
        fields = dict(re.findall(r'name="(q|upto|next)" value="([^"]*)"', page.partition('class="chosen"')[2]))
        return {"all": "1", **fields}

    def test_all_that_fit_are_confirmed_with_examples_and_then_done_in_steps(self, admin, jobs):
        other = make_job(TenantFactory(), user_key="ines")
        done = make_job(jobs[0].tenant, Status.SUCCESS, user_key="ines")
        answers = run(admin, "/ops/jobs/cancel", self.form(admin))
        page = text(answers[0])
        assert "Cancel 10 jobs?" in page
        assert '<strong class="name">tenant:acme user:ines</strong>' in page
        assert page.count(f"{jobs[0].tenant.name}: reports.datareport.execute:1") == 3
        assert "Cancelled 10 jobs." in said(answers[-1])
        assert {status(job) for job in jobs} == {"cancelled"}
        assert (status(other), status(done)) == ("created", "success")
        change = Change.objects.get(verb="cancelled")
        assert (change.subject, change.subjects.count()) == ("10 jobs", 10)

    def test_jobs_that_came_after_the_page_was_shown_are_not_swept_in(self, admin, jobs):
        form = self.form(admin)
        later = make_job(jobs[0].tenant, user_key="ines")
        run(admin, "/ops/jobs/cancel", form)
        assert status(later) == "created"

    def test_running_jobs_are_asked_once_each_though_they_go_on_to_fit(self, admin):
        tenant = TenantFactory(slug="acme")
        running = [make_job(tenant, Status.RUNNING) for _ in range(6)]
        answers = run(admin, "/ops/jobs/cancel", self.form(admin, "status:running"))
        assert "Asked 6 jobs to stop" in said(answers[-1])
        assert len(answers) == 3
        assert Job.objects.filter(cancel_requested_at__isnull=False).count() == len(running)

    def test_how_many_fit_is_told_as_far_as_was_looked(self, admin, jobs, monkeypatch):
        form = self.form(admin)
        monkeypatch.setattr(listing, "MAX_LOOKED_AT", 1)
        monkeypatch.setattr(listing, "LOOKS", 2)
        answers = run(admin, "/ops/jobs/cancel", form)
        assert "Cancel at least 2 jobs?" in text(answers[0])
        assert {status(job) for job in jobs} == {"cancelled"}
        assert "more than 0 left" in text(admin.get(answers[1]["Location"]))

    def test_only_dead_ones_are_discarded_and_only_ended_ones_revived(self, admin):
        tenant = TenantFactory(slug="acme")
        of = {one: make_job(tenant, one) for one in Status}
        admin.post("/ops/jobs/revive", self.form(admin, "tenant:acme"))
        assert {one for one in Status if status(of[one]) != one} == {Status.ERROR, Status.DEAD, Status.CANCELLED}
        answer = admin.post("/ops/jobs/discard", self.form(admin, "tenant:acme"))
        assert "Only dead jobs can be discarded." in said(answer)

    @pytest.mark.parametrize("change", [{"q": ""}, {"q": "  "}, {"q": "12"}, {"upto": ""}, {"upto": "x"}])
    def test_a_selection_without_a_search_or_an_end_is_refused(self, admin, jobs, change):
        assert "Search for some jobs first" in said(admin.post("/ops/jobs/cancel", self.form(admin) | change))
        assert {status(job) for job in jobs} == {"created"}

    @pytest.mark.parametrize("q", ["nonsense", "tenant:nobody", "a:\x00", "user:\x00"])
    def test_a_search_that_is_not_understood_is_refused(self, admin, jobs, q):
        assert said(admin.post("/ops/jobs/cancel", self.form(admin) | {"q": q}))
        assert {status(job) for job in jobs} == {"created"}

    def test_the_boxes_do_nothing_beside_all_that_fit(self, admin, jobs):
        other = make_job(TenantFactory(), user_key="otto")
        run(admin, "/ops/jobs/cancel", self.form(admin) | {"ids": str(other.pk)})
        assert status(other) == "created"

    def test_afterwards_the_rows_are_the_same_and_newer_jobs_are_counted(self, admin, jobs):
        answer = admin.post(
            "/ops/jobs/cancel", {"ids": jobs[0].pk, "next": self.form(admin)["next"].replace("&amp;", "&")}
        )
        for _ in range(2):
            make_job(jobs[0].tenant, user_key="ines")
        make_job(jobs[0].tenant, user_key="otto")
        page = text(admin.get(answer["Location"]))
        assert re.findall(r'name="ids" value="(\d+)"', page) == [str(job.pk) for job in reversed(jobs)]
        assert re.search(r'<a href="\?q=tenant%3Aacme\+user%3Aines">\s*Show 2 newer\s*</a>', page)
