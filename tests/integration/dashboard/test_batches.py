"""The page of batches: how far each is, with links to its jobs; and the same on the command line."""

import re

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from jobs import batch, store
from jobs.engine.door.unblock import unblock
from jobs.engine.verbs.batch_actions import go_on_cancelling
from jobs.lifecycle import Status
from jobs.models import Batch, Job
from jobs.store import EVERY_TENANT
from tests.factories import TenantFactory, ThingFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def nightly():
    """A batch of three: one cancelled, two that wait."""
    thing = ThingFactory(tenant=TenantFactory(name="Owner & Co.", slug="acme"))
    with batch("<b>nightly</b>") as new:
        first, *_ = new.add(thing.async_(dedup=False).echo.request() for _ in range(3))
    assert store.cancel([first], tenant_id=EVERY_TENANT)
    unblock()
    return new


def test_each_is_shown_with_its_failures(client, nightly):
    page = client.get(reverse("jobs_ops:batches")).content.decode()
    assert "&lt;b&gt;nightly&lt;/b&gt;" in page and "<b>nightly" not in page
    assert "Owner &amp; Co." in page and "1 of 3" in page
    failed = f"?q=batch:{nightly.id}+status:cancelled"
    assert failed in page
    assert client.get(f"{reverse('jobs_ops:jobs')}{failed}").content.decode().count("sample.thing.echo") >= 1
    assert "There is no batch" in client.get(f"{reverse('jobs_ops:batches')}?before=1").content.decode()
    assert client.get(f"{reverse('jobs_ops:batches')}?before=nonsense").status_code == 200


def test_a_batch_is_listed_and_cancelled_on_the_command_line(nightly, capsys):
    call_command("jobs", "batches", "--tenant", "acme")
    assert "nightly" in capsys.readouterr().out
    call_command("jobs", "cancel", "--batch", str(nightly.id), "--yes")
    assert set(Job.objects.values_list("status", flat=True)) == {Status.CANCELLED}


def test_the_page_of_a_batch_has_failures_first_a_cancel_and_a_revive(client, nightly):
    path = reverse("jobs_ops:batch", args=[nightly.id])
    page = client.get(path).content.decode()
    assert path in client.get(reverse("jobs_ops:batches")).content.decode()
    first, *_, last = Job.objects.order_by("pk").values_list("pk", flat=True)
    assert page.index(f"/ops/jobs/{first}/") < page.index(f"/ops/jobs/{last}/")
    assert "&lt;b&gt;nightly" in page and "<b>nightly" not in page
    assert f'href="{path}"' in client.get(reverse("jobs_ops:job", args=[first])).content.decode()
    form = page.partition('class="verbs"')[2]
    form = dict(re.findall(r'type="hidden" name="(q|upto|all|next)" value="([^"]*)"', form))
    for verb, statuses in (("cancel-batch", {"cancelled"}), ("revive-jobs", {"created"})):
        address = reverse(f"jobs_ops:{verb}", args=[nightly.id] if verb == "cancel-batch" else [])
        assert address in page
        assert client.post(address, form)["Location"] == path
        assert set(Job.objects.values_list("status", flat=True)) == statuses
    unblock()
    assert "Revive the failed ones" not in client.get(path).content.decode()
    assert client.get(reverse("jobs_ops:batch", args=[2**70])).status_code == 404


def test_many_are_cancelled_once_the_operator_is_sure_and_the_page_tells_how_far_it_is(
    client, nightly, operator, monkeypatch
):
    monkeypatch.setattr("jobs.console.ops.batch.view.MAX_UNASKED", 1)
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.PART", 1)
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.SECONDS", 0)
    path, cancel = reverse("jobs_ops:batch", args=[nightly.id]), reverse("jobs_ops:cancel-batch", args=[nightly.id])
    asked = client.post(cancel, {"next": path}).content.decode()
    assert "2 waiting jobs end as cancelled" in asked and "&lt;b&gt;nightly" in asked
    assert Job.objects.filter(status="created").count() == 2
    assert operator("view_job").post(cancel, {"sure": "1"}).status_code == 403
    assert client.post(cancel, {"sure": "1", "next": path})["Location"] == path
    page = client.get(path).content.decode()
    assert "Cancelled 1 job, or asked them to stop. It goes on with the others" in page
    assert "It is being cancelled" in page and cancel not in page
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.SECONDS", 9)
    go_on_cancelling()
    assert "It is being cancelled" not in client.get(path).content.decode()
    assert not Job.objects.filter(status="created").exists()
    assert client.post(reverse("jobs_ops:cancel-batch", args=[2**70])).status_code == 404


def test_an_open_batch_is_closed_by_a_button_or_a_command(client, nightly, capsys):
    path, close = reverse("jobs_ops:batch", args=[nightly.id]), reverse("jobs_ops:close-batch", args=[nightly.id])
    assert close not in client.get(path).content.decode()
    for by in (lambda: client.post(close), lambda: call_command("jobs", "batches", "--close", str(nightly.id))):
        Batch.objects.update(closed_at=None)
        assert close in client.get(path).content.decode()
        by()
        assert Batch.objects.get().closed_at
    assert f"Batch {nightly.id} is closed already." in client.post(close, follow=True).content.decode()
    with pytest.raises(CommandError, match="close: there is no open batch"):
        call_command("jobs", "batches", "--close", str(nightly.id))


def test_nothing_else_is_the_number_of_a_batch(client):
    page = client.get(f"{reverse('jobs_ops:jobs')}?q=batch:x").content.decode()
    assert "must be the number of a batch" in page
