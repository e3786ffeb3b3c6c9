"""What was done to a tenant's things, as it sees them: its own people by name, operators without."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from jobs.lifecycle import Status
from tenants import audit
from tenants.models import Change, Tenant, TenantQueue
from tests.callers import program_of, superuser
from tests.factories import UserFactory, make_job

pytestmark = pytest.mark.django_db


def listed(caller, **query):
    answer = caller.get("/api/v1/changes", query)
    assert answer.status_code == 200, answer.content
    return answer.json()["changes"]


@pytest.fixture
def operator():
    return program_of(superuser(username="olga"), REMOTE_ADDR="198.51.100.7")


def test_the_owner_sees_who_did_what_from_where_and_a_stranger_nothing(owner, mate, stranger, tenant):
    job = make_job(tenant)
    owner.post(f"/api/v1/jobs/{job.pk}/cancel", REMOTE_ADDR="2001:db8::7")
    mate.post(f"/api/v1/jobs/{job.pk}/revive")
    revived, cancelled = listed(owner)
    assert (revived["verb"], revived["who"], revived["key"]) == ("revived", mate.user.username, "")
    assert (cancelled["verb"], cancelled["who"], cancelled["address"]) == ("cancelled", tenant.slug, "2001:db8::7")
    assert (cancelled["kind"], cancelled["subject_id"]) == ("jobs.job", str(job.pk))
    assert listed(mate) == [revived, cancelled]
    assert listed(stranger) == []
    assert listed(stranger, kind="jobs.job", subject_id=job.pk) == []


def test_an_operator_is_shown_without_name_key_and_address(owner, operator, tenant):
    operator.patch(f"/api/v1/operator/tenants/{tenant.slug}", {"num_slots": 5}, content_type="application/json")
    job = make_job(tenant, Status.DEAD)
    operator.post("/api/v1/operator/dead/discard", {"ids": [job.pk]}, content_type="application/json")
    discarded, changed = listed(owner)
    assert changed["values"] == {"num_slots": [2, 5]}
    assert {(one["who"], one["key"], one["address"]) for one in (discarded, changed)} == {("operator", "", "")}
    assert set(Change.objects.values_list("who", "address", "tenant_id")) == {("olga", "198.51.100.7", tenant.pk)}


def test_operators_read_the_whole_log_page_by_page(owner, operator, tenant):
    operator.patch(f"/api/v1/operator/tenants/{tenant.slug}", {"num_slots": 5}, content_type="application/json")
    job = make_job(tenant)
    owner.post(f"/api/v1/jobs/{job.pk}/cancel", REMOTE_ADDR="2001:db8::7")

    def read(path="/api/v1/operator/changes", **query):
        return operator.get(path, query).json()

    cancelled, changed = read(tenant=tenant.slug)["changes"]
    assert (changed["who"], changed["address"], changed["values"]) == ("olga", "198.51.100.7", {"num_slots": [2, 5]})
    assert (cancelled["who"], cancelled["actor_tenant_id"]) == (tenant.slug, tenant.pk)
    assert read(who="olga", tenant=tenant.slug)["changes"] == [changed]
    assert read(kind="jobs.job", subject_id=job.pk)["changes"] == [cancelled]
    assert read(until="1h")["changes"] == []
    first = read(tenant=tenant.slug, limit=1)
    assert first["changes"] == [cancelled]
    assert read(first["next"])["changes"] == [changed]
    for wrong, said in ({"since": "yesterday"}, "like 30m"), ({"tenant": "nobody"}, "known"), ({"x": 1}, "x"):
        answer = operator.get("/api/v1/operator/changes", wrong)
        assert (answer.status_code, said in str(answer.json())) == (422, True)


def test_a_change_for_two_tenants_shows_each_its_own_part(owner, stranger, operator, tenant):
    other = Tenant.objects.get(name="Stranger Inc.")
    jobs = [make_job(tenant, Status.DEAD), make_job(other, Status.DEAD)]
    ids = {"ids": [job.pk for job in jobs]}
    operator.post("/api/v1/operator/dead/discard", ids, content_type="application/json")
    for caller, job in zip((owner, stranger), jobs, strict=True):
        assert [change["subject_id"] for change in listed(caller)] == [str(job.pk)]


def test_a_change_of_no_tenant_is_shown_to_none(owner, stranger):
    with audit.acting("olga"):
        UserFactory(username="new")
    assert Change.objects.filter(kind="auth.user").exists()
    assert listed(owner) == listed(stranger) == []


def test_pages_lead_from_the_newest_to_the_oldest(owner, tenant):
    with audit.acting("olga"):
        limits = TenantQueue.objects.get(tenant=tenant)
        for slots in range(3, 8):
            limits.num_slots = slots
            limits.save()
    seen, address = [], "/api/v1/changes?limit=2&kind=tenants.tenantqueue"
    while address:
        page = owner.get(address).json()
        seen += [change["values"]["num_slots"][1] for change in page["changes"]]
        address = page["next"]
    assert seen == [7, 6, 5, 4, 3]


@pytest.mark.parametrize("query", [{"limit": 101}, {"before": 0}, {"tenant": "acme"}, {"kind": "x" * 200}])
def test_a_filter_that_does_not_fit_is_refused_by_name(owner, query):
    answer = owner.get("/api/v1/changes", query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == next(iter(query))


def test_a_caller_without_a_key_sees_no_change(tenant):
    assert Client().get("/api/v1/changes").status_code == 401


def test_a_change_outlives_its_tenant(owner, tenant):
    pk = tenant.pk
    with audit.acting("olga"):
        tenant.delete()
    assert Change.objects.filter(tenant_id=pk, verb="deleted", kind="tenants.tenant").exists()


def test_an_operator_marks_a_moment_by_a_request_or_a_command_and_no_tenant_sees_it(owner, operator):
    made = operator.post("/api/v1/operator/marks", {"text": " release\n4.2 "}, content_type="application/json")
    assert made.status_code == 201, made.content
    document = made.json()
    assert (document["who"], document["verb"], document["subject"]) == ("olga", "marked", "release 4.2")
    assert document["at"]
    call_command("audit", "mark", "rollback", stdout=StringIO())
    marks = operator.get("/api/v1/operator/changes", {"kind": "tenants.change"}).json()["changes"]
    assert [one["subject"] for one in marks] == ["rollback", "release 4.2"]
    assert listed(owner) == []
    for text in ("", " ", "x" * 101):
        refused = operator.post("/api/v1/operator/marks", {"text": text}, content_type="application/json")
        assert refused.status_code == 422, refused.content
        assert "must have 1 to 100 characters" in refused.content.decode()
        with pytest.raises(CommandError, match="text: must have 1 to 100 characters"):
            call_command("audit", "mark", text)
    assert Change.objects.count() == 2
