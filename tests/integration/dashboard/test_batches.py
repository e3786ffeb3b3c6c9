"""The page of batches: how far each is, with links to its jobs; and the same on the command line."""

import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from jobs import batch, store
from jobs.engine.unblock import unblock
from jobs.lifecycle import Status
from jobs.models import Job
from jobs.store import EVERY_TENANT
from tests.factories import TenantFactory, ThingFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def nightly():
    """A batch of three: one cancelled, two that wait."""
    thing = ThingFactory(tenant=TenantFactory(name="Owner & Co.", slug="acme"))
    with batch("<b>nightly</b>") as new:
        first, *_ = new.add(thing.async_(dedup=False).echo.request() for _ in range(3))
    assert store.cancel(first, tenant_id=EVERY_TENANT)
    unblock()
    return new


def test_each_is_shown_with_its_failures(client, admin_user, nightly):
    client.force_login(admin_user)
    page = client.get(reverse("ops:batches")).content.decode()
    assert "&lt;b&gt;nightly&lt;/b&gt;" in page and "<b>nightly" not in page
    assert "Owner &amp; Co." in page and "1 of 3" in page
    failed = f"?q=batch:{nightly.id}+status:cancelled"
    assert failed in page
    assert client.get(f"{reverse('ops:jobs')}{failed}").content.decode().count("sample.thing.echo") >= 1
    assert "There is no batch" in client.get(f"{reverse('ops:batches')}?before=1").content.decode()
    assert client.get(f"{reverse('ops:batches')}?before=nonsense").status_code == 200


def test_it_is_listed_and_cancelled_on_the_command_line(nightly, capsys):
    call_command("jobs", "batches", "--tenant", "acme")
    assert "nightly" in capsys.readouterr().out
    call_command("jobs", "cancel", "--batch", str(nightly.id), "--yes")
    assert set(Job.objects.values_list("status", flat=True)) == {Status.CANCELLED}


def test_one_has_its_jobs_failures_first_and_is_cancelled_and_revived(client, admin_user, nightly):
    client.force_login(admin_user)
    path = reverse("ops:batch", args=[nightly.id])
    page = client.get(path).content.decode()
    assert path in client.get(reverse("ops:batches")).content.decode()
    first, *_, last = Job.objects.order_by("pk").values_list("pk", flat=True)
    assert page.index(f"/ops/jobs/{first}/") < page.index(f"/ops/jobs/{last}/")
    assert "&lt;b&gt;nightly" in page and "<b>nightly" not in page
    assert f'href="{path}"' in client.get(reverse("ops:job", args=[first])).content.decode()
    form = page.partition('class="verbs"')[2]
    form = dict(re.findall(r'type="hidden" name="(q|upto|all|next)" value="([^"]*)"', form))
    for name, statuses in (("cancel", {"cancelled"}), ("revive", {"created"})):
        assert reverse(f"ops:{name}-jobs") in page
        assert client.post(reverse(f"ops:{name}-jobs"), form)["Location"] == path
        assert set(Job.objects.values_list("status", flat=True)) == statuses
    unblock()
    assert "Revive the failed" not in client.get(path).content.decode()
    assert client.get(reverse("ops:batch", args=[2**70])).status_code == 404


def test_nothing_else_is_the_number_of_a_batch(client, admin_user):
    client.force_login(admin_user)
    page = client.get(f"{reverse('ops:jobs')}?q=batch:x").content.decode()
    assert "must be the number of a batch" in page
