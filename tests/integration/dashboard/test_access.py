"""Who may open the operators' pages, and who may act: checked in the view, whatever a template shows."""

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from jobs.console.ops import urls
from jobs.engine.submitting.batches import open_batch
from jobs.lifecycle import Status
from jobs.models import Batch, Hold, Job, PausedJobType, Queue, Schedule, Stack, WebhookEndpoint, WhatIf, Worker
from tenants.models import ApiKey, Change, Member, Tenant, TenantQueue
from tests.callers import browser_of, staff
from tests.factories import MemberFactory, QueueFactory, TenantFactory, make_job

pytestmark = pytest.mark.django_db
PAGES = {
    "/ops/": "view_job",
    "/ops/tenants/": "view_tenantqueue",
    "/ops/tenants/acme/": "view_tenantqueue",
    "/ops/usage/": "view_tenantqueue",
    "/ops/what-if/": "view_tenantqueue",
    "/ops/what-if/{what_if}/": "view_tenantqueue",
    "/ops/webhooks/": "view_webhookendpoint",
    "/ops/queues/": "view_queue",
    "/ops/jobs/": "view_job",
    "/ops/jobs/{job}/": "view_job",
    "/ops/jobs/new/": "add_job",
    "/ops/types/reports.datareport.execute/": "view_job",
    "/ops/jobs/suggestions": "view_job",
    "/ops/jobs/csv": "view_job",
    "/ops/dead/csv": "view_deadletter",
    "/ops/find/": "view_job",
    "/ops/find/places": "view_job",
    "/ops/batches/": "view_job",
    "/ops/batches/{batch}/": "view_job",
    "/ops/dead/": "view_deadletter",
    "/ops/workers/": "view_worker",
    "/ops/schedules/": "view_schedule",
    "/ops/schedules/new/": "add_schedule",
    "/ops/schedules/{schedule}/": "change_schedule",
    "/ops/new-queue/": "add_queue",
    "/ops/new-tenant/": "add_tenant",
    "/ops/tenants/acme/new-key/": "add_apikey",
    "/ops/tenants/acme/new-member/": "add_member",
    "/ops/health/": "view_worker",
    "/ops/runbooks/deaths/": "view_worker",
    "/ops/runs/": "view_change",
    "/ops/runs/{run}/": "view_change",
}
RULE = {"tz": "UTC", "jitter": "0", "catch_up": "one", "overlap": "queue"}
CALLED = {"job_type": "reports.datareport.refresh_all", "every": "60", **RULE}
ACTIONS = {
    "/ops/new-queue/add": ("add_queue", {"name": "exports", "weight": "1", "pool": "default", "default_backoff": "5"}),
    "/ops/new-tenant/add": ("add_tenant", {"name": "Globex", "slug": "globex"}),
    "/ops/tenants/acme/add-key": ("add_apikey", {"name": "nightly export"}),
    "/ops/tenants/acme/add-member": ("add_member", {"user": "ines"}),
    "/ops/schedules/add": ("add_schedule", {"tenant": "acme", "name": "hourly", **CALLED}),
    "/ops/schedules/{schedule}/change": ("change_schedule", {"name": "weekly", **CALLED}),
    "/ops/tenants/acme/change": ("change_tenantqueue", {"num_slots": "7"}),
    "/ops/what-if/ask": ("view_tenantqueue", {"kind": "tenants", "name": "acme", "limit": "weight", "value": "2"}),
    "/ops/webhooks/add": ("add_webhookendpoint", {"tenant": "acme", "url": "https://example.com/"}),
    "/ops/webhooks/{off}/switch-on": ("change_webhookendpoint", {}),
    "/ops/webhooks/{webhook}/switch-off": ("change_webhookendpoint", {}),
    "/ops/webhooks/{webhook}/try-now": ("change_webhookendpoint", {}),
    "/ops/webhooks/{webhook}/replace-secret": ("change_webhookendpoint", {}),
    "/ops/webhooks/{webhook}/remove": ("delete_webhookendpoint", {}),
    "/ops/queues/default/change": ("change_queue", {"weight": "7"}),
    "/ops/queues/mails/open": ("change_queue", {}),
    "/ops/types/pause": ("add_pausedjobtype", {"type": "reports.datareport.execute"}),
    "/ops/types/resume": ("delete_pausedjobtype", {"type": "reports.letter.render"}),
    "/ops/batches/{batch}/cancel": ("change_job", {}),
    "/ops/batches/{batch}/close": ("change_job", {}),
    "/ops/jobs/cancel": ("change_job", {"ids": "{job}"}),
    "/ops/jobs/{running}/stack": ("change_job", {}),
    "/ops/jobs/submit": ("add_job", {"tenant": "acme", "call": "reports.datareport.refresh_all"}),
    "/ops/jobs/revive": ("change_job", {"ids": "{dead}"}),
    "/ops/jobs/discard": ("change_deadletter", {"ids": "{dead}"}),
    "/ops/dead/revive": ("change_deadletter", {"ids": "{dead}"}),
    "/ops/dead/discard": ("change_deadletter", {"ids": "{dead}"}),
    "/ops/workers/{worker}/drain": ("change_worker", {}),
    "/ops/schedules/{schedule}/act": ("change_schedule", {"verb": "pause"}),
}


QUESTION = {"since": "2030-01-31T14:00:00Z", "until": "2030-01-31T15:00:00Z", "changes": {}}


@pytest.fixture
def things() -> dict[str, Any]:
    tenant = TenantFactory(name="Owner & Co.", slug="acme")
    QueueFactory(name="default")
    PausedJobType.objects.create(source_type="reports.letter", source_method="render")
    now = timezone.now()
    line = {"queue_id": QueueFactory(name="mails").pk, "tenant_id": 0, "owner_id": tenant.pk}
    Hold.objects.create(**line, job_id=1, attempt=1, held_at=now, until=now + timedelta(minutes=1))
    schedule = Schedule.objects.create(
        tenant=tenant,
        name="nightly",
        every=60,
        source_type="reports.datareport",
        source_id="1",
        source_method="execute",
    )
    run = uuid.uuid4()
    Change.objects.create(who="ines", verb="revived", kind="jobs.job", subject_id="", subject="9 jobs", bulk=run)
    dead = make_job(tenant, Status.DEAD, last_error="ValueError: no")
    worker = Worker.objects.create(pk=uuid.uuid4(), name="w@host", pid=1, pool="default", concurrency=2)
    batch = open_batch("nightly", "", tenant.pk).id
    make_job(tenant, batch_id=batch)
    running = make_job(tenant, Status.RUNNING).pk
    ids = {
        "job": make_job(tenant).pk,
        "running": running,
        "dead": dead.pk,
        "schedule": schedule.pk,
        "worker": worker.pk,
        "run": run,
    }
    hook = {"tenant": tenant, "url": "https://example.com/", "salt": "s", "next_at": timezone.now()}
    hooks = [WebhookEndpoint.objects.create(**hook, off_at=off_at) for off_at in (None, timezone.now())]
    get_user_model().objects.create_user("ines")
    asked = WhatIf.objects.create(asked_by="ines", question=QUESTION, ended_at=timezone.now(), refused="no")
    return ids | {"webhook": hooks[0].pk, "off": hooks[1].pk, "what_if": asked.pk, "batch": batch}


def state() -> tuple[object, ...]:
    return (
        list(TenantQueue.objects.values_list("num_slots", "paused")),
        list(Queue.objects.values_list("name", "weight")),
        list(Hold.objects.values_list("until")),
        list(PausedJobType.objects.values_list("source_type", "source_method")),
        list(Job.objects.order_by("pk").values_list("status")),
        list(Schedule.objects.order_by("pk").values_list("name", "paused")),
        list(Tenant.objects.values_list("slug")),
        list(ApiKey.objects.values_list("name")),
        list(Member.objects.values_list("user__username", "tenant__slug").exclude(user__username__startswith="user")),
        list(Worker.objects.values_list("drain_requested_at")),
        WhatIf.objects.count(),
        Stack.objects.count(),
        list(Batch.objects.values_list("closed_at")),
        list(WebhookEndpoint.objects.order_by("pk").values_list("url", "off_at", "next_at", "salt")),
    )


def posted(client: Client, path: str, body: dict[str, str], things: dict[str, int]):
    """Posted, and confirmed if it asks."""
    answer = client.post(path.format(**things), {name: value.format(**things) for name, value in body.items()})
    asked = re.search(r'name="run" value="([^"]+)"', answer.content.decode())
    return client.post(path.format(**things), {"run": asked[1]}) if asked else answer


def test_no_address_is_missing_here(things):
    """But how far an action is, which test_many asks for, and the cookies of one's own browser."""
    here = {resolve(path.format(**things)).url_name for path in (*PAGES, *ACTIONS)}
    names = {pattern.name for pattern in urls.urlpatterns} - {"theme", "keep-search", "elsewhere"}
    assert here == {name for name in names if not name.endswith("-progress")}


def test_an_address_without_a_page_keeps_the_operators_frame_and_tells_others_nothing(operator):
    for path in ("/ops/nonsense/", "/ops/jobs/7/more/", "/ops/tenants/no/such/"):
        answer = operator("view_queue").get(path)
        assert answer.status_code == 404
        shown = answer.content.decode()
        assert "No page has this address" in shown and 'href="/ops/queues/"' in shown
        strangers = browser_of(MemberFactory().user).get(path)
        assert strangers.status_code == 404 and "/ops/queues/" not in strangers.content.decode()
        assert Client().get(path)["Location"] == f"/accounts/login/?next={path}"
    assert [operator().get(path)["Location"] for path in ("/ops/jobs", "/ops/no")] == ["/ops/jobs/", "/ops/no/"]


def test_a_page_opens_with_its_permission_and_to_nobody_else(operator, things, subtests):
    for path, needed in PAGES.items():
        with subtests.test(path):
            others = set(PAGES.values()) - {needed}
            with_it, without = operator(needed), operator(*sorted(others))
            assert with_it.get(path.format(**things)).status_code == 200
            refused = without.get(path.format(**things))
            assert refused.status_code == 403
            assert needed in refused.content.decode()
            assert browser_of(MemberFactory().user).get(path.format(**things)).status_code == 404
            assert Client().get(path.format(**things))["Location"].startswith("/accounts/login/?next=/ops/")


@pytest.mark.parametrize("path", ACTIONS)
def test_an_action_works_with_its_permission(operator, things, path):
    before = state()
    permission, body = ACTIONS[path]
    response = posted(operator(permission), path, body, things)
    assert response.status_code == 303
    assert state() != before


def test_an_action_needs_a_post_with_its_permission_and_the_token(operator, things, subtests):
    for path, (permission, body) in ACTIONS.items():
        with subtests.test(path):
            member = browser_of(MemberFactory().user)
            before = state()
            others = {
                "change_tenantqueue",
                "change_queue",
                "change_job",
                "change_deadletter",
                "change_schedule",
                "change_worker",
                *PAGES.values(),
            }
            assert posted(operator(*sorted(others - {permission})), path, body, things).status_code == 403
            assert posted(member, path, body, things).status_code == 404
            to_login = posted(Client(), path, {**body, "next": "/ops/dead/"}, things)["Location"]
            assert to_login == "/accounts/login/?next=/ops/dead/"
            strict = browser_of(staff(permission), enforce_csrf_checks=True)
            assert strict.get(path.format(**things)).status_code == 405
            assert posted(strict, path, body, things).status_code == 403
            assert state() == before


def test_the_policy_of_the_pages_has_no_exception(admin_client, things, subtests):
    for path in PAGES:
        with subtests.test(path):
            response = admin_client.get(path.format(**things))
            policy, page = response["Content-Security-Policy"], response.content.decode()
            assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
            assert "unsafe" not in policy
            assert " style=" not in page
            assert " onclick=" not in page
            assert "<script>" not in page
            assert "no-store" in response["Cache-Control"]


def test_a_page_shows_no_control_to_those_who_may_not_use_it(operator, things, subtests):
    seeing = {permission for permission in PAGES.values() if permission.startswith("view_")}
    for path in (path for path, permission in PAGES.items() if permission in seeing):
        with subtests.test(path):
            page = operator(*sorted(seeing)).get(path.format(**things)).content.decode()
            main = page.partition('<main id="main"')[2].partition("</main>")[0]
            assert "<button formaction" not in main
            assert 'action="/ops/tenants/' not in main
            assert 'action="/ops/queues/' not in main
            assert 'action="/ops/schedules/' not in main
            assert 'name="verb"' not in main
