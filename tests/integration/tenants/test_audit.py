"""Who changed what, from what to what, with which key: by whichever way it was done."""

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.test import Client

from jobs.calls.refusals import InvalidRequest
from jobs.engine.verbs import limits
from jobs.engine.verbs.pause import resume_job_type
from jobs.engine.webhooks import endpoints
from jobs.lifecycle import Status
from jobs.models import PausedJobType, Queue
from tenants import audit, auth
from tenants.models import ApiKey, Change, TenantQueue
from tests.callers import browser_of, superuser
from tests.factories import QueueFactory, make_job, operator_key

pytestmark = pytest.mark.django_db


@pytest.fixture
def olga():
    return superuser(username="olga")


@pytest.fixture
def session(olga):
    return browser_of(olga)


@pytest.fixture
def program(olga):
    key, token = operator_key(olga, "test")
    client = Client(headers={"Authorization": f"Bearer {token}"})
    client.key = key.prefix
    return client


def changes(**of):
    return [(c.who, c.key, c.verb, c.kind, c.values) for c in Change.objects.filter(**of).order_by("pk")]


def test_over_http_with_the_key(program, tenant):
    program.patch(f"/api/v1/operator/tenants/{tenant.slug}", {"num_slots": 5}, content_type="application/json")
    program.patch(
        f"/api/v1/operator/tenants/{tenant.slug}", {"num_slots": 0, "weight": 1}, content_type="application/json"
    )
    assert changes() == [
        ("olga", program.key, "changed", "tenants.tenantqueue", {"num_slots": [2, 5]}),
        ("olga", program.key, "changed", "tenants.tenantqueue", {"num_slots": [5, 0]}),
    ]


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Basic b2xnYTp4"}], ids=["", "behind a proxy's password"])
def test_in_the_admin(session, tenant, headers):
    queue = QueueFactory(name="critical", weight=1)
    form = {"weight": 3, "pool": "default", "default_backoff": 10, "paused": "on", "concurrency": ""}
    page = session.post(f"/admin/jobs/queue/{queue.pk}/change/", form, headers=headers)
    assert page.status_code == 302, page.content
    [(who, key, verb, kind, values)] = changes()
    assert (who, key, verb, kind) == ("olga", "", "changed", "jobs.queue")
    assert values.items() >= {"weight": [1, 3], "paused": [False, True]}.items()


def test_at_the_command_line(tenant, monkeypatch):
    monkeypatch.setenv("LOGNAME", "root")
    QueueFactory(name="critical")
    job = make_job(tenant)
    call_command("tenants", "slots", tenant.slug, "--set", "5")
    call_command("queues", "pause", "critical")
    call_command("jobs", "cancel", str(job.pk))
    call_command("jobs", "pause", "reports.datareport", "execute")
    call_command("jobs", "resume", "reports.datareport", "execute")
    assert {change[0] for change in changes()} == {"root at the command line"}
    assert [change[2:4] for change in changes()] == [
        ("changed", "tenants.tenantqueue"),
        ("changed", "jobs.queue"),
        ("cancelled", "jobs.job"),
        ("added", "jobs.pausedjobtype"),
        ("deleted", "jobs.pausedjobtype"),
    ]


def test_changes_of_tenants_to_their_jobs_are_noted(owner, mate, stranger, tenant):
    job = make_job(tenant)
    stranger.post(f"/api/v1/jobs/{job.pk}/cancel")
    assert changes() == [], "nothing was done"
    owner.post(f"/api/v1/jobs/{job.pk}/cancel")
    mate.post(f"/api/v1/jobs/{job.pk}/revive")
    key = ApiKey.objects.get(tenant=tenant).prefix
    assert changes(subject_id=str(job.pk)) == [
        (tenant.slug, key, "cancelled", "jobs.job", {}),
        (mate.user.username, "", "revived", "jobs.job", {}),
    ]


def test_dead_letters_and_actions(program, session, tenant):
    letters = [make_job(tenant, Status.DEAD) for _ in range(3)]
    program.post("/api/v1/operator/dead/discard", {"ids": [letters[0].pk]}, content_type="application/json")
    session.post("/ops/dead/revive", {"ids": [letters[1].pk]})
    program.post(f"/api/v1/operator/jobs/{letters[2].pk}/revive")
    assert [change[:3] for change in changes()] == [
        ("olga", program.key, "discarded"),
        ("olga", "", "revived"),
        ("olga", program.key, "revived"),
    ]


def test_keys_and_users_without_their_secrets(session, tenant, olga):
    session.post("/admin/tenants/apikey/add/", {"tenant": tenant.pk, "name": "nightly"})
    key = ApiKey.objects.get(name="nightly")
    session.post("/admin/tenants/apikey/", {"action": "revoke", "_selected_action": [key.pk]})
    with audit.acting("somebody"):
        olga.set_password("a new one, and long")
        olga.is_superuser = False
        olga.save()
    added, revoked, user = Change.objects.order_by("pk")
    assert (added.verb, revoked.verb, added.subject_id) == ("added", "revoked", str(key.pk))
    assert user.values == {"is_superuser": [True, False], "password": ["…", "…"]}
    told = str(list(Change.objects.values()))
    assert key.digest not in told
    assert User.objects.get(pk=olga.pk).password not in told


def test_changes_of_the_rights_of_users_and_groups_are_noted(olga):
    group, permission = Group.objects.create(name="ops"), Permission.objects.get(codename="view_job")
    olga.groups.add(group)
    assert changes() == [], "code is in the log"
    with audit.acting("somebody"):
        group.permissions.add(permission)
        group.permissions.add(permission)
        olga.groups.clear()
        group.user_set.add(olga)
        group.user_set.set([])
    assert [(kind, values) for *_, kind, values in changes()] == [
        ("auth.group", {"permissions": [[], [str(permission)]]}),
        ("auth.user", {"groups": [["ops"], []]}),
        ("auth.user", {"groups": [[], ["ops"]]}),
        ("auth.user", {"groups": [["ops"], []]}),
    ]


def test_the_next_request_of_a_thread_has_no_author_until_it_is_known(owner, tenant):
    owner.get("/api/v1/jobs")
    TenantQueue.objects.get(tenant=tenant).save()
    queue = QueueFactory(name="x")
    queue.weight = 7
    queue.save()
    PausedJobType.objects.create(source_type="a", source_method="b")
    Queue.objects.get(name="x").save()
    assert changes() == [], "code is in the log"


def test_in_a_project_without_the_middleware_a_key_names_nobody_for_the_next(tenant):
    audit.identify("somebody", key="prefix", tenant_id=tenant.pk)
    slots = TenantQueue.objects.get(tenant=tenant)
    slots.num_slots += 1
    slots.save()
    assert changes() == []


def test_a_change_that_did_not_happen_is_not_noted(session, tenant, olga):
    key, _ = auth.issue(tenant, "loader")
    endpoint, _ = endpoints.add(tenant, "https://example.com/hooks")
    hooks = f"/ops/webhooks/{endpoint.pk}"
    with audit.acting("anna"):
        TenantQueue.objects.get(tenant=tenant).save()
        for act in (lambda: endpoints.remove(endpoint), lambda: auth.revoke(key)):
            act()
            act()
    for path, form in (
        (f"{hooks}/remove", {}),
        (f"{hooks}/switch-on", {}),
        ("/admin/auth/user/", {"action": "reset_second_factor", "_selected_action": [olga.pk]}),
    ):
        session.post(path, form)
    other, _ = endpoints.add(tenant, "https://example.com/hooks")
    session.post(f"/ops/webhooks/{other.pk}/switch-on")
    assert [change[2] for change in changes()] == ["deleted", "revoked"]


def test_each_of_two_simultaneous_changes_notes_the_values_that_it_found(tenant, race):
    slots, paused = tenant.jobs_queue, PausedJobType.objects.create(source_type="sample.thing", source_method="echo")
    slots.num_slots = 3

    def as_anna(act, *values):
        with audit.acting("anna"):
            act(*values)

    race.begin("UPDATE tenant_queues SET num_slots = 7")
    race.run(as_anna, limits.store, slots, ["num_slots"]).result()
    race.begin("DELETE FROM paused_job_types")
    resuming = race.run(as_anna, resume_job_type, paused.source_type, paused.source_method)
    assert isinstance(resuming.exception(), InvalidRequest) == race.lost
    assert [(change[2], change[4]) for change in changes()] == [
        ("changed", {"num_slots": [7 if race.lost else 2, 3]}),
        *([] if race.lost else [("deleted", {})]),
    ]
