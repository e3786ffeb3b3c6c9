"""JOBS_MEMBERSHIP: the project itself says whose member asks; our table of members is not read."""

import pytest
from django.core.checks import run_checks
from django.test import Client

from jobs.checks import TAG as JOBS
from jobs.lifecycle import Status
from jobs.models import Job
from tenants.auth import Way, open_ways
from tenants.models import Member, Tenant
from tests.callers import browser_of
from tests.factories import MemberFactory, TenantFactory, UserFactory, make_job
from tests.integration.members.reading import LIST

pytestmark = pytest.mark.django_db


def by_email(request):
    """The memberships of this project: the part of the address after the @ is a slug, unless the session says more."""
    slug = request.session.get("slug", request.user.email.partition("@")[2])
    return Tenant.objects.filter(slug=slug).first()


@pytest.fixture(autouse=True)
def _own_memberships(settings) -> None:
    settings.JOBS_MEMBERSHIP = f"{__name__}.by_email"


@pytest.fixture
def acme() -> Tenant:
    return TenantFactory(slug="acme")


def browser(email: str) -> Client:
    return browser_of(UserFactory(email=email))


def test_owner_and_mate_see_a_job_and_act_on_it_and_a_stranger_does_not(acme):
    TenantFactory(slug="umbrella")
    job, dead = make_job(acme), make_job(acme, Status.DEAD)
    owner, mate, stranger, nobody = map(browser, ("o@acme", "m@acme", "s@umbrella", "n@nowhere"))
    seen = {"owner": owner, "mate": mate, "stranger": stranger, "nobody": nobody}
    for path in (f"{LIST}{job.pk}/", f"/api/v1/jobs/{job.pk}", f"/api/v1/jobs/{job.pk}/events"):
        answers = {name: client.head(path).status_code for name, client in seen.items()}
        assert answers == {"owner": 200, "mate": 200, "stranger": 404, "nobody": 403}, path
    for verb, one in (("cancel", job), ("run-again", dead)):
        assert stranger.post(f"{LIST}{one.pk}/{verb}").status_code == 404
        assert nobody.post(f"{LIST}{one.pk}/{verb}").status_code == 403
    assert [one.status for one in Job.objects.order_by("pk")] == ["created", "dead"]
    mate.post(f"{LIST}{job.pk}/cancel")
    owner.post(f"{LIST}{dead.pk}/run-again")
    assert [one.status for one in Job.objects.order_by("pk")] == ["cancelled", "created"]


def test_a_row_of_our_own_members_opens_nothing_then(acme):
    client = browser_of(MemberFactory(tenant=acme).user)
    assert client.get(LIST).status_code == client.get("/api/v1/jobs").status_code == 403


def test_a_user_of_several_tenants_sees_the_one_that_the_project_chooses(acme):
    umbrella = TenantFactory(slug="umbrella")
    jobs = [make_job(tenant) for tenant in (acme, umbrella)]
    mia = browser("mia@acme")
    assert [mia.get(f"{LIST}{job.pk}/").status_code for job in jobs] == [200, 404]
    session = mia.session
    session["slug"] = "umbrella"
    session.save()
    assert [mia.get(f"{LIST}{job.pk}/").status_code for job in jobs] == [404, 200]


def test_an_open_stream_asks_again(acme, rf):
    TenantFactory(slug="umbrella")
    requests = [rf.get("/"), rf.get("/")]
    for one, email in zip(requests, ("o@acme", "g@acme"), strict=True):
        one.session, one.user = {}, UserFactory(email=email)
    hashes = [one.user.get_session_auth_hash() for one in requests]
    ways = [Way(acme.pk, "", one.user.pk, known, one) for one, known in zip(requests, hashes, strict=True)]
    assert open_ways(ways) == dict.fromkeys(ways, True)
    changed = ways[0]._replace(session_hash="of the password before")
    assert open_ways([changed, ways[1]]) == {ways[1]: True}
    type(requests[1].user).objects.filter(pk=requests[1].user.pk).update(is_active=False)
    assert open_ways(ways) == {ways[0]: True}
    requests[0].user.email = "o@umbrella"
    assert open_ways(ways) == {}
    assert not Member.objects.exists()


def test_a_path_that_leads_nowhere_is_told_by_a_check(settings):
    assert run_checks(tags=["models"]) == []
    assert "JOBS_MEMBERSHIP" not in str(run_checks(tags=[JOBS]))
    for path in ("nowhere.at.all", f"{__name__}.LIST", f"{__name__}.nothing", "x"):
        settings.JOBS_MEMBERSHIP = path
        [message] = run_checks(tags=["models"])
        assert (message.id, "module.function" in message.hint) == ("tenants.E006", True)
