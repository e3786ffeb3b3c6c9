"""The tenant's batches: how far each is, one with failures first, cancelled and run again; none of a stranger's."""

import pytest

from jobs import batch
from jobs.engine.door.unblock import unblock
from jobs.models import Batch, Job
from tenants.models import Change
from tests.integration.members.reading import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def nightly(report):
    with batch("<b>nightly</b>", on_end=report.async_(dedup=False).execute.request()) as new:
        new.add(report.async_(dedup=False).execute.request() for _ in range(2))
    return new.id


def statuses(number: int) -> set[str]:
    unblock()
    return set(Job.objects.filter(batch_id=number).values_list("status", flat=True))


def test_a_batch_is_listed_shown_cancelled_and_run_again(mate, tenant, nightly):
    path = f"/jobs/batches/{nightly}/"
    assert path in page(mate, "/jobs/batches/") and "/jobs/batches/" in page(mate)
    first = Job.objects.filter(batch_id=nightly).earliest("pk").pk
    mate.post(f"/jobs/{first}/cancel")
    unblock()
    shown = page(mate, path)
    assert "1 of 2" in page(mate, "/jobs/batches/") and "<strong>1</strong> of 2 ended" in shown
    assert shown.index(f'id="job-{first}"') < shown.index('id="job-', shown.index(f'id="job-{first}"') + 5)
    assert "&lt;b&gt;nightly" in shown and "<b>nightly" not in shown
    after = Job.objects.get(predecessors=[nightly]).pk
    assert f"Job {after}</a> waits until all jobs of this batch have ended." in " ".join(shown.split())
    assert mate.post(f"{path}cancel", {"next": path})["Location"] == path
    assert statuses(nightly) == {"cancelled"}
    assert "Cancelled 1 job" in page(mate, path)
    mate.post(f"{path}run-again")
    assert statuses(nightly) == {"created"}
    assert Change.objects.filter(who=mate.user.username, values__filter=f"batch:{nightly}").count() == 2
    tenant.jobs_queue.max_waiting = 0
    tenant.jobs_queue.save()
    mate.post(f"{path}cancel")
    mate.post(f"{path}run-again")
    assert "Not all run again" in page(mate, path)


def test_an_open_batch_is_closed(mate, foreign_mate, nightly):
    Batch.objects.update(closed_at=None)
    close = f"/jobs/batches/{nightly}/close"
    assert foreign_mate.post(close).status_code == 404
    assert close in page(mate, f"/jobs/batches/{nightly}/")
    assert mate.post(close).status_code == 303
    assert close not in page(mate, f"/jobs/batches/{nightly}/")


def test_its_jobs_can_be_listed_and_looked_up_from_there(mate, report, nightly):
    other = report.async_(dedup=False).execute()
    shown = page(mate, f"/jobs/?batch={nightly}")
    member = Job.objects.filter(batch_id=nightly).latest("pk")
    assert f'id="job-{member.pk}"' in shown and f'id="job-{other}"' not in shown
    assert f"batch={nightly}&amp;status=running" in shown
    assert f"/jobs/batches/{nightly}/" in page(mate, f"/jobs/{member.pk}/")


def test_a_stranger_sees_no_batch_and_changes_none(foreign_mate, nightly):
    assert "nightly" not in page(foreign_mate, "/jobs/batches/")
    for number in (nightly, nightly + 1000, 2**70):
        assert foreign_mate.get(f"/jobs/batches/{number}/").status_code == 404
        for verb in ("cancel", "run-again"):
            assert foreign_mate.post(f"/jobs/batches/{number}/{verb}").status_code == 404
    assert 'id="job-' not in page(foreign_mate, f"/jobs/?batch={nightly}")
    assert statuses(nightly) == {"created"}
