"""Good answers are as the OpenAPI document describes them: one of each operation, and those that a client reads."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from django.utils import timezone
from ninja.openapi.schema import OpenAPISchema
from schemathesis import checks

from jobs.api import api
from jobs.engine.schedules import change
from jobs.engine.submitting.batches import open_batch
from jobs.engine.verbs.pause import pause_job_type
from jobs.engine.verbs.stack import ask_for_stack
from jobs.insight import what_if_answer, what_if_process
from jobs.lifecycle import Status
from jobs.models import Hold, JobMemory, WebhookEndpoint
from jobs.store import results
from tenants import auth
from tenants.models import Tenant
from tests.clients import document, python_client
from tests.factories import QueueFactory, make_job
from tests.recorded import ran_in_turn

pytestmark = pytest.mark.django_db
CHECKED = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
STREAMS = {"follow_job", "follow_batch"}  # tests/integration/api/test_events.py
Asked = dict[str, Any]  # path_parameters, query, body


class World:
    """What each operation needs to be answered well, made when it is asked for."""

    def __init__(self, tenant: Tenant, report: Any) -> None:
        self.tenant, self.report = tenant, report
        self.call = {"source_type": "reports.datareport", "source_id": str(report.pk), "source_method": "execute"}

    def job(self, status: Status = Status.CREATED, **fields: Any) -> Asked:
        return {"path_parameters": {"job_id": make_job(self.tenant, status, **self.call | fields).pk}}

    def finished(self) -> Asked:
        job = make_job(self.tenant, Status.SUCCESS, result_expires_at="2999-01-01T00:00Z")
        job.result_bytes = results.keep(job, results.as_text({"n": 1}), ttl=60)
        job.save()
        return {"path_parameters": {"job_id": job.pk}}

    def batch(self, status: Status | None = None) -> Asked:
        batch = open_batch("nightly", "mara", self.tenant.pk)
        if status is not None:
            make_job(self.tenant, status, batch_id=batch.id, **self.call)
        return {"path_parameters": {"batch_id": batch.id}}

    def asked_for_stack(self) -> Asked:
        asked = self.job(Status.RUNNING)
        ask_for_stack(asked["path_parameters"]["job_id"])
        return asked

    def memory(self) -> Asked:
        memory = JobMemory.objects.create(tenant=self.tenant, source_type="a", source_method="b", content={"n": 1})
        return {"path_parameters": {"memory_id": memory.pk}}

    def schedule(self) -> Asked:
        made = change.add(self.tenant, by_tenant=True, name="often", every=3600.0, **self.call)
        return {"path_parameters": {"schedule_id": made.pk}}

    def webhook(self) -> Asked:
        endpoint = WebhookEndpoint.objects.create(tenant=self.tenant, url="https://example.com/", salt="x")
        return {"path_parameters": {"endpoint_id": endpoint.pk}}

    def held_queue(self) -> Asked:
        queue, now = QueueFactory(name="held"), timezone.now()
        moments = {"held_at": now, "until": now + timedelta(seconds=60)}
        Hold.objects.create(queue_id=queue.pk, tenant_id=0, job_id=1, attempt=1, owner_id=self.tenant.pk, **moments)
        return {"path_parameters": {"name": queue.name}}

    def kept(self, made: Callable[[], Asked]) -> Asked:
        """A list that has one."""
        made()
        return {}

    def key(self) -> Asked:
        return {"path_parameters": {"prefix": auth.issue(self.tenant, "test")[0].prefix}}

    def what_if(self) -> Asked:
        since = ran_in_turn(self.tenant)
        return {"body": {"since": since.isoformat()}}

    def paused_type(self) -> Asked:
        pause_job_type("sample.thing", "echo")
        return {"body": {"source_type": "sample.thing", "source_method": "echo"}}

    def answered(self, ask: Callable[..., Any]) -> Asked:
        asked = ask(self.what_if()["body"]).json()
        what_if_answer.answer(asked["id"])
        return {"path_parameters": {"pk": asked["id"]}}


def good(world: World, ask_what_if: Callable[..., Any]) -> dict[str, Callable[[], Asked]]:
    """What to ask of each operation, by its id."""
    queue = {"path_parameters": {"name": QueueFactory().name}}
    of_tenant = {"path_parameters": {"slug": world.tenant.slug}}
    dead, jobs = partial(world.job, Status.DEAD), {"jobs": [world.call]}
    rule = {"name": "nightly", "cron": "0 2 * * *"}
    echo = {"source_type": "sample.thing", "source_method": "echo"}

    def having(made: Callable[[], Asked], **more: Any) -> Callable[[], Asked]:
        return lambda: made() | more

    def listing(made: Callable[[], Asked]) -> Callable[[], Asked]:
        return lambda: world.kept(made)

    return {
        "submit_job": lambda: {"body": world.call},
        "list_jobs": listing(world.job),
        "submit_jobs": lambda: {"body": jobs},
        "read_job": partial(world.job, Status.RUNNING),
        "cancel_job": world.job,
        "revive_job": dead,
        "make_batch": lambda: {"body": {"name": "nightly", **jobs}},
        "list_batches": listing(world.batch),
        "add_to_batch": having(world.batch, body=jobs),
        "close_batch": world.batch,
        "read_batch": partial(world.batch, Status.SUCCESS),
        "cancel_batch": partial(world.batch, Status.CREATED),
        "revive_batch": partial(world.batch, Status.ERROR),
        "read_reason": world.job,
        "read_result": world.finished,
        "tell_event": lambda: {"body": {"name": "approved:42", "payload": [1]}},
        "list_memories": listing(world.memory),
        "read_memory": world.memory,
        "clear_memory": world.memory,
        "list_schedules": listing(world.schedule),
        "create_schedule": lambda: {"body": world.call | rule},
        "preview_rule": lambda: {"body": {"cron": "0 2 * * *"}},
        "read_schedule": world.schedule,
        "change_schedule": having(world.schedule, body={"every": 60.0}),
        "delete_schedule": world.schedule,
        "pause_schedule": world.schedule,
        "resume_schedule": world.schedule,
        "run_schedule_now": world.schedule,
        "read_stats": dict,
        "read_usage": dict,
        "list_webhooks": listing(world.webhook),
        "add_webhook": lambda: {"body": {"url": "https://example.com/hooks"}},
        "remove_webhook": world.webhook,
        "switch_webhook_on": world.webhook,
        "switch_webhook_off": world.webhook,
        "try_webhook_now": world.webhook,
        "replace_webhook_secret": world.webhook,
        "list_changes": dict,
        "list_all_jobs": listing(world.job),
        "read_any_job": partial(world.job, Status.ERROR),
        "cancel_any_job": world.job,
        "revive_any_job": dead,
        "ask_for_a_stack": partial(world.job, Status.RUNNING),
        "read_stacks": world.asked_for_stack,
        "list_all_batches": listing(world.batch),
        "read_any_batch": world.batch,
        "cancel_any_batch": partial(world.batch, Status.CREATED),
        "close_any_batch": world.batch,
        "revive_any_batch": partial(world.batch, Status.ERROR),
        "list_queues": dict,
        "read_queue": lambda: queue,
        "change_queue": lambda: queue | {"body": {"weight": 2}},
        "list_holds": world.held_queue,
        "open_queue": having(world.held_queue, body={}),
        "list_tenants": dict,
        "read_tenant": lambda: of_tenant,
        "change_tenant": lambda: of_tenant | {"body": {"num_slots": 2}},
        "list_keys": listing(world.key),
        "revoke_key": world.key,
        "list_job_types": dict,
        "pause_type": lambda: {"body": echo},
        "resume_type": world.paused_type,
        "list_dead": listing(dead),
        "revive_dead": lambda: {"body": {"ids": [dead()["path_parameters"]["job_id"]]}},
        "discard_dead": lambda: {"body": {"ids": [dead()["path_parameters"]["job_id"]]}},
        "read_usage_of_tenants": dict,
        "read_queue_stats": dict,
        "read_tenant_stats": lambda: of_tenant,
        "ask_what_if": world.what_if,
        "read_what_if": lambda: world.answered(ask_what_if),
        "list_all_changes": dict,
        "mark_moment": lambda: {"body": {"text": "release 4.2"}},
    }


@pytest.fixture
def world(tenant, report, monkeypatch):
    monkeypatch.setattr(what_if_process, "start", lambda pk: None)
    return World(tenant, report)


def test_a_good_answer_of_each_operation_is_as_it_is_described(schema, tokens, world, subtests):
    operations = {
        said["operationId"]: schema[path][method]
        for path, methods in document()["paths"].items()
        for method, said in methods.items()
    }

    def ask(name: str, **asked: Any) -> Any:
        operation = operations[name]
        token = tokens["/operator/" in operation.path]
        case = operation.Case(media_type="application/json" if "body" in asked else None, **asked)
        return case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKED)

    asked = good(world, lambda body: ask("ask_what_if", body=body))
    assert operations.keys() - asked.keys() == STREAMS
    for name, made in asked.items():
        with subtests.test(name), transaction.atomic():
            response = ask(name, **made())
            assert 200 <= response.status_code < 300, response.text
            transaction.set_rollback(True)  # the next one meets none of it


def test_no_two_schemas_share_a_name(monkeypatch):
    """Whatever they are of: the later one would describe what is of the earlier one."""
    known: dict[str, Any] = {}
    add = OpenAPISchema.add_schema_definitions

    def add_new(self: OpenAPISchema, definitions: dict[str, Any]) -> None:
        for name, described in definitions.items():
            assert known.setdefault(name, described) == described, name
        add(self, definitions)

    monkeypatch.setattr(OpenAPISchema, "add_schema_definitions", add_new)
    api.get_openapi_schema(path_prefix="/made/anew/")
    assert len(known) > 50


def test_a_client_that_is_generated_reads_what_it_is_answered(tmp_path, tokens, report):
    """As openapi-python-client makes it: it compares each answer with the document."""
    transport = httpx.WSGITransport(app=get_wsgi_application())
    with python_client(tmp_path, "wsgi_client", "http://localhost", tokens[0], transport=transport) as (call, models):
        body = models.Submission("reports.datareport", "execute", source_id=str(report.pk))
        job = call("submit_job", body=body)
        why = call("read_reason", job.id)
        assert (why.gate, why.place) == ("no_worker", 1)
        assert [one.id for one in call("list_jobs", status="created").jobs] == [job.id]
        assert call("list_jobs", status="held").jobs == []
        assert call("cancel_job", job.id).status == "cancelled"
        missing = call("read_job", job.id + 1)
        assert (missing.status, missing.code) == (404, "not_found"), "a problem"
