"""The operators' API of dead letters: found by the filters, revived and discarded one by one or all that fit."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.console.api import dead
from jobs.console.operations import verbs
from jobs.lifecycle import Status
from jobs.models import ERASED, FailedAttempt, Job
from tenants.models import Change
from tests.callers import program_of, superuser
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.sql import sql

pytestmark = pytest.mark.django_db
DEAD = "/api/v1/operator/dead"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def operator(db):
    return program_of(superuser())


def dead_job(tenant=None, error_class="ValueError", **fields):
    said = {"last_error": f"{error_class}: no", "died_at": timezone.now(), "attempt": 2} | fields
    job = make_job(tenant or TenantFactory(), Status.DEAD, **said)
    for attempt, name in ((1, "EarlierError"), (2, error_class)):
        FailedAttempt.objects.create(job=job, attempt=attempt, error_class=name, error="no", end_time=NOON)
    return job


def found(response):
    assert response.status_code == 200, response.content
    return [letter["id"] for letter in response.json()["dead"]]


def post(client, verb, body):
    return client.post(f"{DEAD}/{verb}", body, "application/json")


def status_of(*jobs):
    return [Job.objects.get(pk=job.pk).status for job in jobs]


class TestList:
    def test_a_letter_tells_whose_it_is_and_why_it_died(self, operator):
        job = dead_job(TenantFactory(slug="acme"), retries=3, crashes=1, user_key="anna", died_at=NOON)
        (letter,) = operator.get(DEAD).json()["dead"]
        assert letter.pop("created_at").startswith(f"{job.created_at:%Y-%m-%dT%H:%M:%S}")
        assert letter == {
            "id": job.pk,
            "tenant": "acme",
            "queue": "default",
            "source_type": "reports.datareport",
            "source_id": "1",
            "source_method": "execute",
            "user": "anna",
            "attempt": 2,
            "retries": 3,
            "crashes": 1,
            "died_at": "2026-03-01T12:00:00Z",
            "error_class": "ValueError",
            "last_error": "ValueError: no",
        }

    def test_only_the_dead_are_listed_latest_death_first(self, operator):
        early, late = (dead_job(died_at=NOON + timedelta(minutes=minutes)) for minutes in (0, 1))
        latest = dead_job(died_at=NOON + timedelta(hours=1))
        for status in set(Status) - {Status.DEAD}:
            make_job(TenantFactory(), status)
        assert found(operator.get(DEAD)) == [latest.pk, late.pk, early.pk]

    def test_a_page_that_finds_nothing_says_how_far_it_looked(self, operator, monkeypatch):
        monkeypatch.setattr(dead, "MAX_LOOKED_AT", 2)
        sought = dead_job(error_class="KeyError", died_at=NOON - timedelta(hours=1))
        for _ in range(3):
            dead_job(died_at=NOON)
        page = operator.get(f"{DEAD}?error_class=KeyError").json()
        assert page["dead"] == []
        page = operator.get(page["next"]).json()
        assert [letter["id"] for letter in page["dead"]] == [sought.pk]

    def test_each_filter_narrows(self, operator):
        wanted = dead_job(
            TenantFactory(slug="acme"),
            "TimeoutError",
            queue=QueueFactory(name="mail"),
            source_type="shop.order",
            source_method="send",
            died_at=NOON,
        )
        dead_job()
        dead_job(died_at=NOON - timedelta(days=2))
        for query in (
            {"tenant": "acme"},
            {"queue": "mail"},
            {"source_type": "shop.order"},
            {"source_method": "send"},
            {"error_class": "TimeoutError"},
            {"died_after": "2026-03-01T00:00:00Z", "died_before": "2026-03-01T13:00:00+01:00"},
        ):
            expected = [] if query.get("died_before") else [wanted.pk]
            assert found(operator.get(DEAD, query)) == expected, query
        just = {"died_after": "2026-03-01T11:59:59Z", "died_before": "2026-03-01T12:00:01Z"}
        assert found(operator.get(DEAD, just)) == [wanted.pk]

    def test_the_error_class_is_that_of_the_last_attempt(self, operator):
        dead_job()
        assert found(operator.get(DEAD, {"error_class": "EarlierError"})) == []

    def test_pages_follow_each_other_without_gap_or_repeat_also_among_simultaneous_deaths(self, operator):
        jobs = [dead_job(died_at=NOON).pk for _ in range(5)] + [dead_job(died_at=NOON + timedelta(minutes=1)).pk]
        dead_job(died_at=NOON, source_method="other")
        seen, page = [], f"{DEAD}?limit=2&source_method=execute&died_after=2026-01-01T00:00:00Z"
        while page:
            response = operator.get(page)
            seen.append(found(response))
            dead_job()  # what dies meanwhile shifts nothing
            page = response.json()["next"]
        assert [job for page in seen for job in page] == jobs[::-1]

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("limit=0", "limit"),
            ("limit=101", "limit"),
            ("died_after=yesterday", "died_after"),
            ("died_after=2026-03-01T12:00:00", "died_after"),
            ("died_before=1700000000", "died_before"),
            ("after=nonsense", "after"),
            ("after=2026-03-01T12:00:00_1", "after"),
            ("after=2026-03-01T12:00:00Z_x", "after"),
            (f"after=2026-03-01T12:00:00Z_{10**30}", "after"),
            ("tenant=%00", "tenant"),
            ("error_class=%00", "error_class"),
            ("tennant=acme", "tennant"),
        ],
    )
    def test_an_unfit_filter_is_named(self, operator, query, field):
        response = operator.get(f"{DEAD}?{query}")
        assert response.status_code == 422, response.content
        assert [error["field"] for error in response.json()["errors"]] == [field]

    def test_a_page_goes_by_the_index_of_the_dead(self, operator):
        for _ in range(3):
            dead_job()
        operator.get(DEAD)  # notes the key's last use
        with CaptureQueriesContext(connection) as queries:
            operator.get(f"{DEAD}?limit=2&error_class=ValueError&died_after=2026-01-01T00:00:00Z")
        found = [q["sql"] for q in queries if 'FROM "jobs"' in q["sql"]]
        assert len(found) == 2, "how far it looks, and the page"
        for query in found:
            # Of three rows it would read all, and sort them; whatever it believes, an index has to have the order.
            sql("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
            plan = "\n".join(line for (line,) in sql(f"EXPLAIN {query}"))
            assert "jobs_dead" in plan, plan


class TestReviveAndDiscard:
    def test_the_named_jobs_are_revived_and_the_others_counted(self, operator):
        first, second, left = (dead_job() for _ in range(3))
        alive = make_job(TenantFactory(), Status.ERROR)  # engine.revive would take it; it is no dead letter
        response = post(operator, "revive", {"ids": [first.pk, second.pk, first.pk, alive.pk, 2**63 - 1]})
        assert (response.status_code, response.json()) == (200, {"revived": 2, "skipped": 2, "more": False})
        assert status_of(first, second, left, alive) == ["created", "created", "dead", "error"]
        assert FailedAttempt.objects.filter(job=first).count() == 2

    def test_all_that_fit_are_discarded(self, operator):
        tenant = TenantFactory(slug="acme")
        fits, other_error, other_tenant = dead_job(tenant), dead_job(tenant, "KeyError"), dead_job()
        response = post(operator, "discard", {"tenant": "acme", "error_class": "ValueError"})
        assert (response.status_code, response.json()) == (200, {"discarded": 1, "skipped": 0, "more": False})
        assert status_of(fits, other_error, other_tenant) == ["cancelled", "dead", "dead"]

    def test_more_than_one_request_takes_is_said_and_the_earliest_go_first(self, operator, monkeypatch):
        """And those that were erased, which nobody revives, do not come first for ever."""
        monkeypatch.setattr(dead, "MAX_CHANGED", 3)
        monkeypatch.setattr(verbs, "BATCH", 2)
        erased = [dead_job(died_at=NOON - timedelta(days=1), dedup_key=ERASED) for _ in range(4)]
        jobs = [dead_job(died_at=NOON - timedelta(minutes=minutes)) for minutes in range(4)]
        assert post(operator, "revive", {"queue": "default"}).json() == {"revived": 3, "skipped": 0, "more": True}
        assert status_of(*jobs) == ["dead", "created", "created", "created"]
        assert post(operator, "revive", {"queue": "default"}).json() == {"revived": 1, "skipped": 0, "more": False}
        assert post(operator, "discard", {"queue": "default"}).json() == {"discarded": 3, "skipped": 0, "more": True}
        assert status_of(*erased).count("dead") == 1

    @pytest.mark.parametrize("verb", ["revive", "discard"])
    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({}, "ids"),
            ({"ids": [1], "tenant": "acme"}, "ids"),
            ({"ids": ["1"]}, "ids[0]"),
            ({"ids": [0]}, "ids[0]"),
            ({"ids": [2**63]}, "ids[0]"),
            ({"ids": list(range(1, dead.MAX_CHANGED + 2))}, "ids"),
            ({"ids": "all"}, "ids"),
            ({"tenant": None}, "ids"),
            ({"tennant": "acme"}, "tennant"),
            ({"died_before": "2026-03-01T12:00:00"}, "died_before"),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_an_unfit_selection_touches_nothing(self, operator, verb, body, field):
        job = dead_job(TenantFactory(slug="acme"))
        response = post(operator, verb, body)
        assert response.status_code == 422, response.content
        assert [error["field"] for error in response.json()["errors"]] == [field]
        assert status_of(job) == ["dead"]

    def test_no_ids_are_none(self, operator):
        job = dead_job()
        assert post(operator, "revive", {"ids": []}).json() == {"revived": 0, "skipped": 0, "more": False}
        assert status_of(job) == ["dead"]

    def test_the_operator_of_a_single_change_is_in_the_log(self, operator):
        job = dead_job()
        post(operator, "discard", {"ids": [job.pk]})
        entry = Change.objects.get()
        assert (entry.verb, entry.subject) == ("discarded", f"job {job.pk}")
        assert entry.bulk is None

    def test_many_are_one_change_of_each_tenant_with_the_filter_and_the_ids(self, operator, monkeypatch):
        monkeypatch.setattr(verbs, "BATCH", 2)
        acme, other = TenantFactory(slug="acme"), TenantFactory(slug="other")
        jobs = [dead_job(acme) for _ in range(5)]
        alone = dead_job(other)
        post(operator, "revive", {"error_class": "ValueError"})
        entry, of_other = Change.objects.order_by("tenant_id")
        assert (entry.verb, entry.subject, entry.tenant_id) == ("revived", "5 jobs", acme.pk)
        assert entry.values == {"filter": "error_class:ValueError", "number": 5}
        assert list(entry.subjects.order_by("subject_id").values_list("subject_id", flat=True)) == [j.pk for j in jobs]
        assert (of_other.subject, of_other.tenant_id) == (f"job {alone.pk}", other.pk)
        assert of_other.subjects.get().subject_id == alone.pk

    @pytest.mark.django_db(transaction=True)
    def test_the_revived_start_at_once(self, operator, register, sent):
        register()
        tenant = TenantFactory(queue__num_slots=5)
        jobs = [dead_job(tenant) for _ in range(3)]
        post(operator, "revive", {"tenant": tenant.slug})
        assert {message.id for message in sent} == {job.pk for job in jobs}
