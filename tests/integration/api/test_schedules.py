"""Schedules over HTTP: their tenant (with a key) and a team mate (with a session) use them; a stranger sees none."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from jobs.engine.schedules import change
from jobs.models import Job, Schedule, ScheduleRun
from jobs.portal.api import schedules
from tenants.models import Change, Tenant, TenantQueue
from tenants.tenant_model import lock_tenant
from tests.factories import QueueFactory, ThingFactory

pytestmark = pytest.mark.django_db
URL = "/api/v1/schedules"


@pytest.fixture
def post(report):
    def post(caller, **said):
        call = {"name": "Nightly", "source_type": "reports.datareport", "source_id": report.pk, "every": 3600}
        call |= {"source_method": "execute"} | said
        return caller.post(URL, json.dumps(call), content_type="application/json")

    return post


@pytest.fixture
def schedule(owner, post):
    return Schedule.objects.get(pk=post(owner).json()["id"])


@pytest.fixture
def declared(tenant, report):
    call = {"source_type": "reports.datareport", "source_method": "refresh_all"}
    return change.add(tenant, name="declared", every=60.0, declared=True, **call)


def patch(caller, schedule, **said):
    return caller.patch(f"{URL}/{schedule.pk}", json.dumps(said), content_type="application/json")


def _and_deleted(found):
    type(found).objects.filter(pk=found.pk).delete()
    return found


def refused(response, field, *words):
    assert response.status_code == 422, response.content
    [error] = response.json()["errors"]
    assert error["field"] == field
    assert all(word in error["message"] for word in words), error
    return True


class TestCreating:
    def test_answers_with_the_whole_of_it_and_where_it_is(self, owner, mate, post, report):
        response = post(owner, every=None, cron="0 6 * * 1-5", tz="Europe/Berlin")
        assert response.status_code == 201
        told = response.json()
        assert response["Location"] == f"{URL}/{told['id']}"
        assert told["in_words"] == "At 06:00 AM, Monday through Friday (Europe/Berlin)"
        assert len(told["next_times"]) == 5
        assert told["next_at"] == told["next_times"][0]
        assert (told["source_id"], told["late_seconds"], told["runs"]) == (str(report.pk), None, [])
        for caller in (owner, mate):
            assert caller.get(response["Location"]).json() == told

    def test_is_within_what_the_tenant_may_call(self, owner, post, tenant):
        thing = ThingFactory(tenant=tenant)
        internal = {"source_type": "sample.thing", "source_method": "echo", "source_id": thing.pk}
        assert refused(post(owner, **internal), "source_type", "is unknown; known: reports.datareport")
        QueueFactory(name="critical")
        assert refused(post(owner, queue="critical"), "queue", "allowed: reports")

    def test_is_done_once_for_one_idempotency_key(self, owner, report):
        call = {"name": "a", "source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"}
        answers = [
            owner.post(URL, {**call, "every": 60}, content_type="application/json", headers={"Idempotency-Key": "k"})
            for _ in range(2)
        ]
        assert [answer.status_code for answer in answers] == [201, 201]
        assert answers[0].content == answers[1].content
        assert answers[1]["Location"] == answers[0]["Location"]

    @pytest.mark.parametrize(
        ("said", "field"),
        [
            ({"every": 0.5}, "every"),
            ({"every": None}, "every"),
            ({"cron": "@daily"}, "every"),
            ({"every": True}, "every"),
            ({"every": None, "cron": "61 * * * *"}, "cron"),
            ({"every": None, "cron": "0 0 30 2 *"}, "cron"),
            ({"every": None, "cron": "0 6 * * * *"}, "cron"),
            ({"every": None, "cron": "@daily", "tz": "Mars/Olympus"}, "tz"),
            ({"every": None, "cron": "@daily", "tz": "../../etc/passwd"}, "tz"),
            ({"every": None, "cron": "@daily", "tz": ""}, "tz"),
            ({"source_type": "reports.nothing"}, "source_type"),
            ({"source_method": "delete"}, "source_method"),
            ({"source_method": "refresh_all"}, "source_id"),
            ({"args": {"bogus": 1}}, "args"),
            ({"args": []}, "args"),
            ({"starts_at": "2030-01-01T00:00:00"}, "starts_at"),
            ({"starts_at": "9999-12-31T23:59:59Z"}, "starts_at"),
            ({"starts_at": "0001-01-01T00:00:00Z"}, "starts_at"),
            ({"starts_at": "2030-01-02T00:00:00Z", "ends_at": "2030-01-01T00:00:00Z"}, "ends_at"),
            ({"ends_at": "2020-01-01T00:00:00Z"}, "ends_at"),
            ({"jitter": -1}, "jitter"),
            ({"jitter": 1e300}, "jitter"),
            ({"priority": 11}, "priority"),
            ({"queue": "nowhere"}, "queue"),
            ({"catch_up": "some"}, "catch_up"),
            ({"overlap": "stack"}, "overlap"),
            ({"name": ""}, "name"),
            ({"name": "x" * 301}, "name"),
            ({"name": "\x00"}, "name"),
            ({"name": "\ud800"}, "name"),
            ({"paused": True}, "paused"),
            ({"by_tenant": False}, "by_tenant"),
        ],
    )
    def test_is_refused_by_the_name_of_the_field(self, owner, post, said, field):
        assert refused(post(owner, **said), field)
        assert not Schedule.objects.exists()

    def test_for_a_foreign_object_is_refused_exactly_as_for_a_missing_one(self, owner, post, foreign_report):
        missing = post(owner, source_id=999_999).content.decode()
        assert post(owner, source_id=foreign_report.pk).content.decode() == missing.replace(
            "999999", str(foreign_report.pk)
        )

    def test_a_second_one_of_a_name_or_one_too_many_is_refused(self, owner, post, settings):
        post(owner)
        assert refused(post(owner), "name", "there is a schedule 'Nightly' already")
        settings.JOBS_MAX_SCHEDULES = 1
        assert refused(post(owner, name="other"), "name", "1 schedules, which is the limit")


class TestPreviewing:
    def test_says_when_it_would_be_due_and_stores_nothing(self, owner, mate):
        for caller in (owner, mate):
            rule = {"every": 3600, "starts_at": "2040-01-01T00:00:00Z", "ends_at": "2040-01-01T01:30:00Z"}
            told = caller.post(f"{URL}/preview", rule, content_type="application/json")
            assert told.status_code == 200
            assert told.json() == {
                "in_words": "Every hour",
                "next_times": ["2040-01-01T00:00:00Z", "2040-01-01T01:00:00Z"],
            }
        assert not Schedule.objects.exists()

    def test_refuses_as_creating_does(self, owner):
        for rule, field in [({"cron": "x"}, "cron"), ({}, "every"), ({"every": 60, "name": "x"}, "name")]:
            assert refused(owner.post(f"{URL}/preview", rule, content_type="application/json"), field)


class TestAList:
    def test_is_by_name_a_page_at_a_time_and_of_the_tenants_own(self, owner, mate, stranger, post):
        for name in ("c & d", "a", "b"):
            post(owner, name=name)
        assert stranger.get(URL).json() == {"schedules": [], "next": None}
        first = mate.get(f"{URL}?limit=2").json()
        assert [one["name"] for one in first["schedules"]] == ["a", "b"]
        second = owner.get(first["next"]).json()
        assert ([one["name"] for one in second["schedules"]], second["next"]) == (["c & d"], None)

    def test_refuses_what_it_does_not_know(self, owner):
        assert refused(owner.get(f"{URL}?paused=1"), "paused", "unknown parameter")
        assert refused(owner.get(f"{URL}?limit=0"), "limit")


class TestASchedule:
    def test_a_schedule_of_a_stranger_looks_like_a_missing_one(self, stranger, schedule):
        for method, path, body in [
            ("get", "", None),
            ("patch", "", {"name": "mine"}),
            ("delete", "", None),
            ("post", "/pause", None),
            ("post", "/resume", None),
            ("post", "/run-now", None),
        ]:
            send = getattr(stranger, method)
            foreign, missing, huge = (
                send(f"{URL}/{pk}{path}", body, content_type="application/json") if body else send(f"{URL}/{pk}{path}")
                for pk in (schedule.pk, 999_999, 10**50)
            )
            assert foreign.status_code == 404
            assert foreign.content == missing.content == huge.content
        assert Schedule.objects.get().name == "Nightly"
        assert not Job.objects.exists()

    def test_tells_how_late_it_is_and_its_last_ten_runs(self, owner, schedule):
        now = timezone.now()
        Schedule.objects.update(next_at=now - timedelta(minutes=5))
        for n in range(12):
            ScheduleRun.objects.create(schedule=schedule, due=now - timedelta(hours=n), job_id=n, note=f"{n}")
        told = owner.get(f"{URL}/{schedule.pk}").json()
        assert 300 <= told["late_seconds"] < 360
        assert [(run["job_id"], run["note"]) for run in told["runs"]] == [(n, f"{n}") for n in range(10)]

    def test_a_schedule_with_an_invalid_rule_is_shown(self, owner, schedule):
        Schedule.objects.update(every=None, cron="gone wrong", tz="Nowhere")
        told = owner.get(f"{URL}/{schedule.pk}").json()
        assert (told["in_words"], told["next_times"]) == ("gone wrong (Nowhere)", [])

    def test_is_changed_and_due_anew(self, owner, mate, schedule):
        told = patch(mate, schedule, cron="@daily", name="Daily").json()
        assert (told["every"], told["cron"], told["name"]) == (None, "@daily", "Daily")
        assert told["next_at"].endswith("T00:00:00Z")
        assert patch(owner, schedule, every=60).json()["cron"] == ""
        noted = Change.objects.filter(kind="jobs.schedule").order_by("pk").last()
        assert (noted.verb, noted.values["every"], noted.values["cron"]) == ("changed", [None, 60.0], ["@daily", ""])

    @pytest.mark.parametrize(
        ("said", "field"),
        [
            ({"name": None}, "name"),
            ({"args": None}, "args"),
            ({"cron": "x"}, "cron"),
            ({"tz": "Mars/Olympus"}, "every"),
            ({"source_method": "delete"}, "source_method"),
            ({"source_id": None}, "source_id"),
            ({"starts_at": None}, "starts_at"),
            ({"declared": True}, "declared"),
        ],
    )
    def test_is_changed_to_nothing_that_could_not_be_created(self, owner, schedule, said, field):
        if field == "every":
            assert refused(patch(owner, schedule, every=None, **said), field)
        else:
            assert refused(patch(owner, schedule, **said), field)
            change.pause(schedule)
            assert refused(patch(owner, schedule, **said), field), "also while it is paused"

    def test_the_change_of_an_operators_schedule_is_within_what_the_tenant_may_call(self, owner, tenant):
        thing = ThingFactory(tenant=tenant)
        internal = {"source_type": "sample.thing", "source_method": "echo", "source_id": str(thing.pk)}
        made = change.add(tenant, name="internal", every=60.0, **internal)
        assert refused(patch(owner, made, args={"times": 9}), "source_type", "is unknown")

    def test_is_paused_and_resumed(self, owner, mate, schedule):
        told = mate.post(f"{URL}/{schedule.pk}/pause").json()
        assert (told["paused"], told["paused_because"], told["next_at"], told["next_times"]) == (True, "", None, [])
        told = owner.post(f"{URL}/{schedule.pk}/resume").json()
        assert not told["paused"]
        assert datetime.fromisoformat(told["next_at"]) > datetime.now(UTC)

    def test_a_schedule_whose_object_is_gone_is_not_resumed(self, owner, schedule, report):
        owner.post(f"{URL}/{schedule.pk}/pause")
        report.delete()
        assert refused(owner.post(f"{URL}/{schedule.pk}/resume"), "source_id", "there is no reports.datareport")

    def test_is_run_now_by_hand(self, owner, schedule, tenant):
        response = owner.post(f"{URL}/{schedule.pk}/run-now")
        job = Job.objects.get()
        assert (response.status_code, response.json()["job_id"], job.tenant_id) == (202, job.pk, tenant.pk)
        assert owner.get(response["Location"]).json()["id"] == job.pk
        [run] = owner.get(f"{URL}/{schedule.pk}").json()["runs"]
        assert (run["job_id"], run["note"]) == (job.pk, "Run by hand.")
        assert Change.objects.filter(verb="run by hand", subject_id=str(schedule.pk)).count() == 1

    def test_is_not_run_now_while_too_many_wait(self, owner, schedule):
        TenantQueue.objects.filter(tenant=Tenant.objects.get(pk=schedule.tenant_id)).update(max_waiting=0)
        response = owner.post(f"{URL}/{schedule.pk}/run-now")
        assert (response.status_code, "Retry-After" in response) == (429, True)

    @pytest.mark.django_db(transaction=True)
    def test_a_schedule_that_another_session_deletes_is_not_found(self, owner, schedule, race):
        race.begin("DELETE FROM schedules WHERE id = %s", schedule.pk)
        response = race.run(owner.delete, f"{URL}/{schedule.pk}").result()
        assert response.status_code == (404 if race.lost else 204)

    def test_a_schedule_deleted_after_the_look_is_not_found_by_any_verb(
        self, owner, schedule, post, monkeypatch, subtests
    ):
        never = owner.post(f"{URL}/{schedule.pk + 1}/pause").content
        found = schedules.existing
        monkeypatch.setattr(schedules, "existing", lambda *what: _and_deleted(found(*what)))
        asked = dict.fromkeys(("/pause", "/resume", "/run-now"), owner.post)
        asked |= {"": owner.delete, " ": lambda to: owner.patch(to, {"every": 60}, content_type="application/json")}
        for path, ask in asked.items():
            with subtests.test(path), transaction.atomic():
                response = ask(f"{URL}/{schedule.pk}{path.strip()}")
                assert (response.status_code, response.content) == (404, never)
                transaction.set_rollback(True)
        with subtests.test("its tenant"):
            monkeypatch.setattr(change, "lock_tenant", lambda tenant: lock_tenant(_and_deleted(tenant)))
            assert post(owner, name="another").status_code == 401

    def test_is_deleted_and_its_jobs_stay(self, owner, schedule):
        owner.post(f"{URL}/{schedule.pk}/run-now")
        response = owner.delete(f"{URL}/{schedule.pk}")
        assert (response.status_code, response.content) == (204, b"")
        assert (Schedule.objects.count(), ScheduleRun.objects.count(), Job.objects.count()) == (0, 0, 1)
        assert Change.objects.filter(kind="jobs.schedule", verb="deleted").exists()


class TestADeclaredSchedule:
    def test_is_read_paused_resumed_and_run_but_neither_changed_nor_deleted(self, owner, declared):
        assert owner.get(f"{URL}/{declared.pk}").json()["declared"]
        assert owner.post(f"{URL}/{declared.pk}/pause").json()["paused"]
        assert not owner.post(f"{URL}/{declared.pk}/resume").json()["paused"]
        assert owner.post(f"{URL}/{declared.pk}/run-now").status_code == 202
        for response in (patch(owner, declared, name="mine"), owner.delete(f"{URL}/{declared.pk}")):
            assert response.status_code == 409
            assert response.json()["detail"].startswith("The code declares this schedule: it can be paused, resumed")
        assert Schedule.objects.get().name == "declared"

    def test_is_a_strangers_no_more_than_another(self, stranger, declared):
        assert patch(stranger, declared, name="mine").status_code == 404
