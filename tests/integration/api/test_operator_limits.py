"""The operators' API of queues, tenants and job types: what is changed works at once, what does not fit is named."""

import json

import pytest

from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, Job, PausedJobType, Queue
from tenants.models import Change, TenantQueue
from tests.callers import program_of, superuser
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.sample import spending

pytestmark = pytest.mark.django_db
assert spending.ask  # declares the unit tokens
BASE = "/api/v1/operator"
REPORT = {"source_type": "reports.datareport", "source_method": "execute"}


@pytest.fixture
def operator(db):
    return program_of(superuser())


def send(client, method, path, body=None):
    text = "" if body is None else body if isinstance(body, str) else json.dumps(body)
    return client.generic(method, BASE + path, text, "application/json")


def assert_problem(response, status, *fields):
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    assert [error["field"] for error in response.json()["errors"]] == list(fields)


class TestQueues:
    def test_queues_are_listed_by_name_with_all_their_limits(self, operator):
        QueueFactory(name="mail", rate_limit=10, rate_window=60, concurrency=3)
        queues = send(operator, "GET", "/queues").json()
        assert [queue["name"] for queue in queues] == sorted(Queue.objects.values_list("name", flat=True))
        (mail,) = (queue for queue in queues if queue["name"] == "mail")
        assert mail == {
            "name": "mail",
            "weight": 1,
            "pool": "default",
            "concurrency": 3,
            "tenant_slots": None,
            "rate_limit": 10,
            "rate_window": 60,
            "wait_target": None,
            "default_timeout": None,
            "default_max_retries": None,
            "default_backoff": 10,
            "backoff_grows": True,
            "paused": False,
        }

    def test_the_named_limits_are_changed_and_the_rest_stays(self, operator):
        queue = QueueFactory(name="mail", weight=2, concurrency=3)
        change = {"concurrency": None, "rate_limit": 10, "rate_window": 0.5, "default_max_retries": 4, "pool": "slow"}
        change["wait_target"] = 30
        response = send(operator, "PATCH", "/queues/mail", change)
        assert response.status_code == 200
        assert response.json().items() >= (change | {"weight": 2}).items()
        queue.refresh_from_db()
        assert {name: getattr(queue, name) for name in change} == change
        assert queue.weight == 2

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"weight": 0}, "weight"),
            ({"weight": None}, "weight"),
            ({"weight": "3"}, "weight"),
            ({"weight": 1.5}, "weight"),
            ({"pool": "a\x00"}, "pool"),
            ({"rate_limit": 5}, "rate_window"),
            ({"default_timeout": 1e12}, "default_timeout"),
            ({"wait_target": 0}, "wait_target"),
            ({"default_backoff": None}, "default_backoff"),
            ({"paused": 1}, "paused"),
            ({"name": "post"}, "name"),
        ],
        ids=str,
    )
    def test_a_limit_that_does_not_fit_is_refused_by_name(self, operator, change, field):
        QueueFactory(name="mail")
        before = Queue.objects.values().get(name="mail")
        assert_problem(send(operator, "PATCH", "/queues/mail", change), 422, field)
        assert Queue.objects.values().get(name="mail") == before

    def test_an_unknown_field_is_told_which_there_are(self, operator):
        problem = send(operator, "PATCH", "/queues/default", {"wieght": 1}).json()
        assert "weight, pool, concurrency" in problem["errors"][0]["message"]

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
    def test_a_window_is_a_finite_number(self, operator, number):
        response = send(operator, "PATCH", "/queues/default", f'{{"rate_limit": 1, "rate_window": {number}}}')
        assert response.status_code in (400, 422)

    def test_an_empty_change_changes_nothing(self, operator):
        assert send(operator, "PATCH", "/queues/default", {}).status_code == 200
        assert not Change.objects.exists()

    def test_a_queue_is_paused_and_resumed(self, operator):
        for paused in (True, False):
            assert send(operator, "PATCH", "/queues/default", {"paused": paused}).json()["paused"] is paused
            assert Queue.objects.get(name="default").paused is paused

    @pytest.mark.parametrize("name", ["nonsense", "%00", "a%20b"])
    def test_a_missing_queue_is_not_found(self, operator, name):
        assert_problem(send(operator, "PATCH", f"/queues/{name}", {}), 404)

    def test_the_operator_who_changed_a_queue_is_in_the_log(self, operator):
        send(operator, "PATCH", "/queues/default", {"weight": 3})
        entry = Change.objects.get()
        assert (entry.who, entry.subject_id) == (operator.user.username, str(Queue.objects.get(name="default").pk))
        assert entry.values == {"weight": [1, 3]}


class TestTenants:
    def test_a_tenants_slots_are_read_and_changed(self, operator):
        tenant = TenantFactory(slug="acme", queue__num_slots=2)
        QueueFactory(name="default")
        change = {"num_slots": 5, "user_slots": 1, "weight": 3, "max_waiting": 9, "history_days": 90, "paused": True}
        change |= {
            "burst_slots": 9,
            "rate_limit": 7,
            "rate_window": 60,
            "queues": ["critical"],
            "queue_slots": {"default": 3},
            "budgets": {"tokens": 1_000_000},
        }
        assert send(operator, "PATCH", "/tenants/acme", change).json() == change | {"tenant": "acme"}
        assert send(operator, "GET", "/tenants/acme").json() == change | {"tenant": "acme"}
        tenant.jobs_queue.refresh_from_db()
        assert {name: getattr(tenant.jobs_queue, name) for name in change} == change

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"num_slots": 10_001}, "num_slots"),
            ({"num_slots": None}, "num_slots"),
            ({"queues": None}, "queues"),
            ({"queues": ["a\x00"]}, "queues[0]"),
            ({"queue_slots": {"default": 0}}, "queue_slots"),
            ({"queue_slots": {"nowhere": 1}}, "queue_slots"),
            ({"queue_slots": None}, "queue_slots"),
            ({"budgets": {"tokens": 0}}, "budgets"),
            ({"budgets": {"misspelt": 1}}, "budgets"),
            ({"rate_limit": 5}, "rate_window"),
            ({"paused": "yes"}, "paused"),
            ({"tenant": "other"}, "tenant"),
        ],
        ids=str,
    )
    def test_a_limit_that_does_not_fit_is_refused_by_name(self, operator, change, field):
        TenantFactory(slug="acme")
        before = TenantQueue.objects.values().get()
        assert_problem(send(operator, "PATCH", "/tenants/acme", change), 422, field)
        assert TenantQueue.objects.values().get() == before

    def test_a_missing_tenant_is_not_found(self, operator):
        assert_problem(send(operator, "GET", "/tenants/nobody"), 404)
        assert_problem(send(operator, "PATCH", "/tenants/nobody", {"paused": True}), 404)

    def test_a_tenant_without_slots_gets_none_by_another_change(self, operator):
        TenantFactory(slug="acme", queue=None)
        assert send(operator, "GET", "/tenants/acme").json()["num_slots"] == 0
        assert send(operator, "PATCH", "/tenants/acme", {"weight": 2}).json()["num_slots"] == 0
        assert send(operator, "PATCH", "/tenants/acme", {"num_slots": 2}).json()["num_slots"] == 2


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    """A change dispatches when it commits; nothing else does here, and no clock runs."""

    def test_more_slots(self, operator, register, sent):
        register()
        waiting = make_job(TenantFactory(slug="acme", queue__num_slots=0))
        send(operator, "PATCH", "/tenants/acme", {"num_slots": 1})
        assert [message.id for message in sent] == [waiting.pk]

    def test_a_resumed_queue(self, operator, register, sent):
        register()
        waiting = make_job(TenantFactory(), queue=QueueFactory(name="mail", paused=True))
        send(operator, "PATCH", "/queues/mail", {"paused": False})
        assert [message.id for message in sent] == [waiting.pk]

    def test_a_resumed_job_type(self, operator, register, sent):
        register()
        waiting = make_job(TenantFactory())
        send(operator, "POST", "/job-types/pause", REPORT)
        assert Job.objects.get().due_at == HELD_UNTIL
        assert sent == []
        send(operator, "POST", "/job-types/resume", REPORT)
        assert [message.id for message in sent] == [waiting.pk]


class TestJobTypes:
    def test_pausing_holds_the_waiting_ones_and_resuming_lets_them_go(self, operator):
        tenant = TenantFactory()
        for status in (Status.CREATED, Status.CREATED, Status.RUNNING):
            make_job(tenant, status)
        make_job(tenant, source_method="other")
        paused = send(operator, "POST", "/job-types/pause", REPORT)
        assert (paused.status_code, paused.json()) == (200, REPORT | {"paused": True, "jobs": 2})
        assert PausedJobType.objects.get().source_method == "execute"
        assert REPORT | {"paused": True} in send(operator, "GET", "/job-types").json()
        resumed = send(operator, "POST", "/job-types/resume", REPORT)
        assert (resumed.status_code, resumed.json()) == (200, REPORT | {"paused": False, "jobs": 2})
        assert not PausedJobType.objects.exists()
        assert REPORT | {"paused": False} in send(operator, "GET", "/job-types").json()

    def test_pausing_twice_holds_no_more_and_resuming_twice_is_refused(self, operator):
        make_job(TenantFactory())
        assert [send(operator, "POST", "/job-types/pause", REPORT).json()["jobs"] for _ in range(2)] == [1, 0]
        assert send(operator, "POST", "/job-types/resume", REPORT).json()["jobs"] == 1
        again = send(operator, "POST", "/job-types/resume", REPORT)
        assert_problem(again, 422, "source_method")
        assert again.json()["errors"][0]["message"] == "reports.datareport.execute is not paused; paused: none"

    def test_a_job_type_whose_code_was_removed_is_resumed(self, operator):
        removed = REPORT | {"source_method": "removed"}
        PausedJobType.objects.create(**removed)
        make_job(TenantFactory(), Status.SCHEDULED, source_method="removed", due_at=HELD_UNTIL)
        assert send(operator, "POST", "/job-types/resume", removed).json()["jobs"] == 1
        assert "removed" not in [named["source_method"] for named in send(operator, "GET", "/job-types").json()]

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"source_type": "reports.nonsense"}, "source_type"),
            ({"source_method": "delete"}, "source_method"),
            ({"source_method": None}, "source_method"),
            ({"source_type": "a\x00"}, "source_type"),
            ({"queue": "mail"}, "queue"),
        ],
        ids=str,
    )
    def test_an_unknown_job_type_is_not_paused(self, operator, change, field):
        assert_problem(send(operator, "POST", "/job-types/pause", REPORT | change), 422, field)
        assert not PausedJobType.objects.exists()


def test_a_name_in_the_path_is_no_parameter_of_the_request(operator):
    response = operator.patch(
        "/api/v1/operator/queues/default?name=critical", {"paused": True}, content_type="application/json"
    )
    assert response.status_code == 422
    assert not Queue.objects.filter(paused=True).exists()
