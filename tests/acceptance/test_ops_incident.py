"""The operator at three in the morning: from the first page to the cause and its cure, in a real browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from jobs.lifecycle import Status
from jobs.models import Job, PausedJobType, Queue
from tenants.models import TenantQueue
from tests.acceptance.ops_incident import Night, build
from tests.acceptance.shots import shoot
from tests.acceptance.test_ops_pages import FINE, LOOK, RULES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_CLICKS = 3  # from the first page to the cure


class Operator:
    """Somebody whose clicks are counted. To type a number, and to send it by Enter, counts as one."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks = page, 0

    def click(self, found: Locator) -> None:
        self.clicks += 1
        found.click()

    def type(self, field: Locator, value: str) -> None:
        self.clicks += 1
        field.fill(value)
        field.press("Enter")

    def reads(self, message: str) -> None:
        expect(self.page.get_by_role("status").filter(has_text=message)).to_be_visible()


def no_slots(operator: Operator, night: Night) -> None:
    row = operator.page.locator("#busiest tr").filter(has_text=night.without_slots.name)
    expect(row.locator(".state")).to_have_text("no slots")
    operator.click(row.get_by_role("link"))
    operator.type(operator.page.get_by_label("Slots", exact=True), "2")
    operator.reads("slots 0 → 2")
    assert TenantQueue.objects.get(tenant=night.without_slots).num_slots == 2


def paused_queue(operator: Operator, night: Night) -> None:
    row = operator.page.locator("#busiest tr").filter(has_text=night.of_paused_queue.name)
    expect(row.get_by_role("link", name="paused: nightly")).to_be_visible()
    operator.click(row.get_by_role("button", name="Resume queue nightly"))
    operator.reads("Queue nightly is resumed.")
    assert not Queue.objects.get(name="nightly").paused


def wave_after_a_deploy(operator: Operator, night: Night) -> None:
    cause = _failures(operator)
    expect(cause.locator("> strong")).to_contain_text(f"{night.failing}: 700 of 700")
    operator.click(cause.get_by_role("button", name=f"Pause {night.failing}"))
    operator.reads(f"Paused {night.failing}")
    assert [str(one) for one in PausedJobType.objects.all()] == [night.failing]


def wave_after_the_mend(operator: Operator, night: Night) -> None:
    operator.click(_failures(operator).get_by_role("button", name=f"Resume {night.failing}"))
    operator.reads(f"Resumed {night.failing}")
    assert not PausedJobType.objects.exists()


def dead_jobs_of_the_wave(operator: Operator, night: Night) -> None:
    died = Job.objects.filter(status=Status.DEAD)
    assert died.count() == 300
    operator.click(_failures(operator).get_by_role("link", name="Dead letters").first)
    operator.click(operator.page.get_by_role("button", name="Revive AttributeError: no attribute 'net_total'"))
    operator.click(operator.page.get_by_role("button", name="Revive them"))
    operator.reads("Revived 300 jobs")
    assert not died.exists()


def failed_jobs_without_retries(operator: Operator, night: Night) -> None:
    failed = Job.objects.filter(status=Status.ERROR)
    assert failed.count() == 140
    listed = operator.page.locator("#failing")
    operator.click(listed.get_by_role("link", name=night.failing_without_retries, exact=True))
    operator.click(operator.page.get_by_role("button", name="Revive its failed jobs"))
    operator.click(operator.page.get_by_role("button", name="Revive them"))
    operator.reads("Revived 140 jobs")
    assert not failed.exists()


def _failures(operator: Operator) -> Locator:
    return operator.page.locator("#incident li").filter(has_text="attempts failed in 10 minutes").first


def dead_worker(operator: Operator, night: Night) -> None:
    """The cure is outside; what was lost is one click away."""
    chain = operator.page.locator("#incident .chains > li").first
    expect(chain.locator("> strong")).to_contain_text("Worker second@hostb of pool default went silent")
    expect(chain.locator("li").first).to_contain_text("2 jobs were taken back")
    expect(chain.get_by_text("Pool default lacks processes")).to_be_visible()
    operator.click(chain.get_by_role("link", name=str(night.taken_back), exact=True))
    expect(operator.page.get_by_role("heading", level=1)).to_contain_text(f"Job {night.taken_back}")


def queue_backs_up(operator: Operator, night: Night) -> None:
    row = operator.page.locator("#busiest tr").filter(has_text=night.of_full_queue.name)
    operator.click(row.get_by_role("link", name="limit of mail"))
    row = operator.page.locator("tr").filter(has=operator.page.get_by_role("link", name="mail", exact=True))
    expect(row).to_contain_text("empty in about 9 min")
    expect(row.get_by_role("button", name="What would it do?")).to_be_visible()
    operator.type(row.get_by_label("Concurrency"), "4")
    operator.reads("concurrency 1 → 4")
    assert Queue.objects.get(name="mail").concurrency == 4


def flood_by_one_tenant(operator: Operator, night: Night) -> None:
    by_tenant = operator.page.locator("#takers dd").first
    expect(by_tenant).to_contain_text(f"{night.flooder.name} 4")
    operator.click(by_tenant.get_by_role("link", name=night.flooder.name))
    operator.click(operator.page.get_by_role("button", name="Pause the tenant"))
    operator.reads("is paused.")
    assert TenantQueue.objects.get(tenant=night.flooder).paused


CASES: list[Callable[[Operator, Night], None]] = [
    *(no_slots, paused_queue, wave_after_a_deploy, wave_after_the_mend, dead_jobs_of_the_wave),
    *(failed_jobs_without_retries, dead_worker, queue_backs_up, flood_by_one_tenant),
]


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1440, "light")])
def test_the_first_page_of_a_night_is_whole_and_keeps_nobody_out(context, width, scheme):
    axe, page = pytest.importorskip("axe_playwright_python.sync_playwright").Axe(), context(width, scheme).new_page()
    build()
    page.goto("")
    assert page.evaluate(LOOK) == FINE
    assert axe.run(page, options=RULES).response["violations"] == []
    shoot(page, f"night-{width}-{scheme}")


def test_each_case_of_a_night_leads_from_the_first_page_to_its_cure_in_three_clicks(context, subtests):
    night, page = build(), context(1440).new_page()
    for case in CASES:
        with subtests.test(case.__name__):
            page.goto("")
            operator = Operator(page)
            case(operator, night)
            assert operator.clicks <= MOST_CLICKS
            shoot(page, f"night-{case.__name__}")
