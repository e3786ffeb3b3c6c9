"""What works in that project; run by tests/integration/project/test_friction.py, with the settings beside this file."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.checks import run_checks
from django.core.management import call_command
from django.db.backends.postgresql.psycopg_any import is_psycopg3
from django.test import Client
from django.urls import reverse

from jobs.console.ops.shared import access
from jobs.lifecycle import Status
from jobs.models import Schedule
from tenants import auth, operators
from tenants.mirror import tenant_of
from tenants.models import Member, OperatorKey
from tests.factories import QueueFactory, TenantFactory, UserFactory, make_job, operator_key
from tests.friction.models import Membership, Workspace

pytestmark = pytest.mark.django_db
OURS = ("jobs", "tenants")
PAGES = [f"jobs_ops:{name}" for name, *_ in access.PAGES]


@pytest.fixture
def job():
    QueueFactory()
    tenant = TenantFactory(slug="acme")
    about = {"source_type": "sample.thing", "source_id": "1", "source_method": "echo"}
    Schedule.objects.create(tenant=tenant, name="nightly", every=60, **about)
    make_job(tenant)
    return make_job(tenant, Status.DEAD, last_error="ValueError: no")


def test_psycopg2_is_there_and_django_takes_the_other():
    import psycopg2  # noqa: F401 - what the project had before

    assert is_psycopg3


def client_of(user):
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def operator(db):
    """With every permission of ours."""
    user = UserFactory()
    user.user_permissions.set(Permission.objects.filter(content_type__app_label__in=OURS))
    return user


def test_no_check_has_anything_against_it():
    """But for the line of OPTIONS that would make claims cheaper."""
    assert [message.id for message in run_checks(databases=["default"])] == ["jobs.W003"]
    call_command("makemigrations", *OURS, check=True, dry_run=True, verbosity=0)


def test_every_page_of_the_operators_opens_without_a_link_to_an_admin(operator, job):
    client = client_of(operator)
    addresses = [reverse(page) for page in PAGES]
    addresses += [reverse("jobs_ops:tenant", args=["acme"]), reverse("jobs_ops:job", args=[job.pk])]
    for address in addresses:
        response = client.get(address)
        html = response.content.decode()
        assert response.status_code == 200, address
        assert "<nav" in html
        assert ">Admin<" not in html and "in the admin" not in html
        assert 'action=""' not in html and 'href=""' not in html
    assert "nightly" in client.get(reverse("jobs_ops:schedules")).content.decode()


def test_an_action_on_many_asks_and_answers(operator, job):
    client = client_of(operator)
    asked = client.post("/ops/jobs/discard", {"ids": [job.pk]})
    assert (asked.status_code, b"<form" in asked.content) == (200, True)
    client.post("/ops/jobs/revive", {"ids": [job.pk]})
    job.refresh_from_db()
    assert job.status == Status.CREATED
    assert 'class="message' in client.get("/ops/jobs/").content.decode()
    assert client.post("/ops/theme", {"theme": "dark"}).status_code == 303


def test_the_permission_alone_decides_who_is_an_operator(job):
    looker = UserFactory()
    looker.user_permissions.set(Permission.objects.filter(codename="view_queue"))
    assert client_of(looker).get("/ops/queues/").status_code == 200
    refused = client_of(looker).get("/ops/jobs/")
    assert (refused.status_code, b"jobs.view_job" in refused.content) == (403, True)
    nobody = client_of(UserFactory())
    assert {nobody.get(reverse(page)).status_code for page in PAGES} == {404}
    assert nobody.post("/ops/theme", {"theme": "dark"}).status_code == 404
    assert client_of(UserFactory(is_superuser=True)).get("/ops/jobs/").status_code == 200


def test_an_anonymous_visitor_gets_the_login_of_the_project(job):
    for path in ("/ops/", "/jobs/"):
        assert Client().get(path)["Location"] == f"/sign-in/?next={path}"
    assert Client().post("/elsewhere/login/").status_code == 404, "past the throttle of logins"


def test_the_members_pages_open_for_members_alone(operator, job):
    workspace = Workspace.objects.create(title="Acme")
    member = Membership.objects.create(person=UserFactory(), workspace=workspace).person
    job = make_job(tenant_of(workspace))
    for path in ("/jobs/", f"/jobs/{job.pk}/"):
        assert client_of(member).get(path).status_code == 200
        refused = client_of(UserFactory()).get(path)
        assert (refused.status_code, b"belongs to no tenant" in refused.content) == (403, True)
        assert client_of(operator).get(path).headers["Location"] == "/ops/", "to the pages of operators"


def test_an_operators_key_acts_by_the_permissions_of_its_user(operator, job):
    for user, status in ((operator, 200), (UserFactory(), 401)):
        _, token = operator_key(user, "test")
        client = Client(headers={"Authorization": f"Bearer {token}"})
        assert client.get("/api/v1/operator/queues").status_code == status
    assert client_of(operator).get("/api/v1/operator/queues").status_code == 200
    assert client_of(UserFactory()).get("/api/v1/operator/queues").status_code == 403


def test_a_stream_goes_on_for_the_good_key_and_for_a_member_whatever_a_user_has_for_is_active(job):
    """Users have no column of that name: `AbstractBaseUser` says it."""
    [key, _token] = auth.issue(job.tenant, "watch")
    member = Member.objects.create(user=UserFactory(), tenant=job.tenant)
    good = [auth.Way(job.tenant_id, key=key.prefix), auth.Way(job.tenant_id, user_id=member.user_id)]
    bad = [auth.Way(TenantFactory().pk, key=key.prefix), auth.Way(job.tenant_id, user_id=UserFactory().pk)]
    assert auth.open_ways([*good, *bad]) == dict.fromkeys(good, True)


def test_any_user_may_be_given_an_operators_key(operator):
    assert operators.choices() == OperatorKey._meta.get_field("user").get_limit_choices_to()
    assert operator in get_user_model().objects.filter(operators.choices())
