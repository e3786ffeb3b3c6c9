"""A page says when a job starts, and then that it did; another one what more slots would have done."""

import re
from math import log

import pytest
from playwright.sync_api import Page, expect

from jobs.allocation.gates import Gate
from jobs.insight.forecasting.calibration import BOUNDS, LEARNED, QUANTILES
from jobs.models import Attempt, Calibration, Job, PoolChange
from tenants.models import TenantQueue
from tests.factories import ThingFactory
from tests.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SHORT = 30  # jobs: enough gaps between them to tell the pauses
PATIENCE = 60_000.0  # milliseconds; a forecast is made after ten seconds


def learn() -> None:
    """As after many statements, whose starts may be three times as late as the simulations say."""
    for kind in (f"{gate.value} {name}" for gate in Gate for name in (*(name for _, name in BOUNDS), "more")):
        for q in QUANTILES:
            Calibration.objects.create(kind=kind, quantile=q, log=log(3.0), outcomes=2 * LEARNED, held=q)


@pytest.mark.long("the wiring of recorder, pages and the process of what-if; each part has a test with rows")
def test_a_page_says_when_a_job_starts_that_it_did_and_what_more_slots_would_have_done(context, start_worker, tmp_path):
    learn()
    thing = ThingFactory()
    TenantQueue.objects.filter(tenant=thing.tenant).update(num_slots=1)
    start_worker(concurrency=3)
    wait_until(PoolChange.objects.exists, "the recorder notes the processes")
    first = thing.async_.echo("first")
    wait_until(lambda: Job.objects.get(pk=first).status == "success", "all is warm")
    for n in range(SHORT):
        thing.async_.hold_row(0.2 + n / 10_000)
    released = tmp_path / "released"
    thing.async_.wait_for_file(str(released))
    job = thing.async_.echo("at last")
    live, plain = context().new_page(), context(scripts=False).new_page()
    for page in (live, plain):
        page.goto(f"jobs/{job}/")
    expect(live.get_by_text("Starts about")).to_be_visible(timeout=PATIENCE)
    says = plain.get_by_text("Starts about")  # not once its moment has passed, until the next forecast
    wait_until(lambda: plain.reload() and says.is_visible(), "a page without scripts says it")
    wait_until(lambda: Attempt.objects.count() == 1 + SHORT, "the short ones end")
    released.touch()
    wait_until(lambda: Job.objects.get(pk=job).status == "success", "the last one ends")
    plain.reload()
    for page in (live, plain):  # whether it came late is this machine's affair
        expect(page.get_by_text(re.compile("(as|later than) forecast"))).to_be_visible(timeout=PATIENCE)
    for page in (live, plain):
        what_if(page, thing.tenant.slug, thing.tenant.name)


def what_if(page: Page, tenant: str, name: str) -> None:
    page.goto(f"what-if/?tenant={tenant}&num_slots=3")
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_text("Accuracy: replaying the real limits misses")).to_be_visible(timeout=PATIENCE)
    row = page.get_by_role("row").filter(has_text=name).first
    expect(row.get_by_role("cell", name="less")).to_be_visible()
