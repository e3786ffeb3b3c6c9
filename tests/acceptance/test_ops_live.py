"""The operators' live pages at work in a real browser: refreshes, keys, actions, with scripts and without."""

import re

import pytest
from playwright.sync_api import expect

from jobs.lifecycle import Status
from jobs.models import Job
from tenants.models import TenantQueue
from tests.acceptance.ops_world import build
from tests.acceptance.shots import shoot
from tests.callers import superuser
from tests.factories import QueueFactory, TenantFactory, ThingFactory, copies, make_job
from tests.waiting import wait_until

LONG = pytest.mark.long("this part of the script; what the pages answer is in tests/integration/dashboard")

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scripts", [True, False])
def test_slots_are_changed_by_keyboard_alone_and_a_job_runs(context, start_worker, scripts):
    start_worker()
    thing = ThingFactory()
    TenantQueue.objects.filter(tenant=thing.tenant).update(num_slots=0)
    job_id = thing.async_.echo("done")
    page = context(scripts=scripts).new_page()
    page.goto("tenants/")
    field = page.get_by_label(f"Slots of {thing.tenant.name}")
    field.focus()
    field.press("Control+a")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="slots 0 → 1")).to_be_visible()
    wait_until(lambda: Job.objects.get(pk=job_id).status == "success", "the job ends")


def test_a_refresh_keeps_focus_selection_and_open_details_and_brings_what_is_new(context):
    tenant, queue = TenantFactory(name="Owner & Co."), QueueFactory(name="default")
    page = context().new_page()
    page.goto("queues/")
    page.get_by_label("Change default").click()
    summary = page.locator(f"#change-{queue.pk} summary")
    summary.focus()
    make_job(tenant)
    row = page.locator(f"#queue-{queue.pk}")
    expect(row.get_by_text("1: a live worker of the pool")).to_be_visible(timeout=30_000)  # a look may rest 10 s
    expect(page.locator(f"#change-{queue.pk}")).to_have_attribute("open", "")
    expect(summary).to_be_focused()
    field = page.locator(f"#change-{queue.pk} input[name=weight]")
    field.fill("7")
    field.press("Enter")
    expect(page.get_by_role("status").filter(has_text="weight 1 → 7")).to_be_visible()
    page.get_by_label("Change default").click()
    click = "form => form.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }))"
    form = page.locator(f"#change-{queue.pk} form.limits")
    assert (form.evaluate(click), form.evaluate(click)) == (True, False), "the second, while the first is on its way"


@LONG
def test_the_palette_and_the_suggestions_serve_the_keyboard_and_accessibility(context):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    TenantFactory(name="Alder & Finch", slug="alder"), QueueFactory(name="mail")
    page = context().new_page()
    page.goto("queues/")
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find a page, tenant")
    expect(field).to_be_focused()
    expect(page.get_by_role("option", name="Workers")).to_be_visible()
    page.keyboard.type("finch")
    expect(page.locator("#places li")).to_have_count(1)
    assert axe.run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag22aa"]}).response["violations"] == []
    shoot(page, "palette")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/ops/tenants/alder/"))
    page.goto("jobs/")
    search = page.get_by_role("combobox", name="Search", exact=True)
    search.focus()
    page.keyboard.type("since:1h -que")
    expect(page.get_by_role("option", name="-queue:")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("option", name="-queue:mail")).to_be_visible()
    assert axe.run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag22aa"]}).response["violations"] == []
    shoot(page, "suggestions")
    page.keyboard.type("mai")
    expect(page.locator("#words li")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(search).to_have_value("since:1h -queue:mail ")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No job matches.")).to_be_visible()


def test_a_chart_tells_each_time_by_mouse_keys_and_touch_and_searches_its_jobs(context):
    build()
    page = context().new_page()
    page.goto("")
    ended, waited = page.locator("#ended .plot"), page.locator("#waited .plot")
    ended.scroll_into_view_if_needed()
    box = ended.locator(".chart").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 30.5 / 60, box["y"] + 5)
    said = ended.locator(".told").inner_text()
    assert re.fullmatch(r"\d\d:\d\d: \d+ succeeded(, \d+ failed for good)?( · \d\d:\d\d release 4.2 by ines)", said)
    expect(waited.locator(".told")).to_contain_text(said[:5])
    waited.locator(".chart").focus()
    page.keyboard.press("ArrowRight")
    expect(ended.locator(".told")).not_to_contain_text(said[:5])
    page.keyboard.press("ArrowLeft")
    expect(ended.locator(".told")).to_have_text(said)
    page.keyboard.press("Escape")
    expect(ended.locator(".told")).to_be_empty()
    page.mouse.click(box["x"] + box["width"] * 30.5 / 60, box["y"] + 5)
    search = page.get_by_role("combobox", name="Search", exact=True)
    expect(search).to_have_value(re.compile(rf"ended_since:\S+T{said[:5]} ended_until:"))


def test_a_finger_asks_a_chart_first_and_opens_it_then(context_of):
    build()
    operator = superuser()
    page = context_of(operator, "/ops/", width=360, touch=True).new_page()
    page.goto("")
    chart = page.locator("#waited .plot")
    chart.tap(position={"x": 190, "y": 40})
    expect(page.locator("#waited .told")).to_contain_text("half waited at most")
    chart.tap(position={"x": 190, "y": 40})
    expect(page).to_have_url(re.compile("jobs/.q=ended_since"))


@LONG
def test_the_page_says_when_nobody_answers_and_goes_on_when_somebody_does(context, problems):
    page = context().new_page()
    page.goto("")
    page.route("**/ops/", lambda route: route.fulfill(status=204) if page.title() == "back" else route.abort())
    expect(page.locator("#away")).to_contain_text("No answer since", timeout=15_000)
    page.evaluate("document.title = 'back'")
    expect(page.locator("#away")).to_be_hidden(timeout=15_000)
    problems.clear()  # Chromium's own words about the requests that failed


@LONG
def test_paused_it_asks_nothing_and_remembers(context):
    page = context().new_page()
    page.goto("")
    page.keyboard.press("l")
    expect(page.locator("#live")).to_have_text("paused")
    page.reload()
    expect(page.locator("#live")).to_have_text("paused")
    page.keyboard.press("l")
    with page.expect_request(lambda asked: "live" in asked.headers):
        pass


@LONG
def test_single_keys_lead_everywhere_and_can_be_switched_off(context):
    job = make_job(TenantFactory(), Status.ERROR)
    page = context().new_page()
    page.goto("")
    page.keyboard.press("g")
    page.keyboard.press("j")
    page.wait_for_url("**/ops/jobs/")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#selected")).to_have_text("1 selected")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/ops/jobs/{job.pk}/")
    page.keyboard.press("?")
    page.get_by_label("Single keys work").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).not_to_be_focused()


@LONG
@pytest.mark.parametrize("scripts", [True, False])
def test_many_dead_are_revived_with_progress_by_script_or_by_hand(context, scripts):
    tenant = TenantFactory()
    copies(make_job(tenant, Status.DEAD, last_error="ValueError: no"), 1_500)
    page = context(scripts=scripts).new_page()
    page.goto("dead/")
    page.get_by_label("Revive ValueError: no of reports.datareport.execute").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Revive 1,501 dead jobs?")
    page.get_by_role("button", name="Revive them").click()
    if not scripts:
        expect(page.get_by_role("status")).to_contain_text("1,000 done, 501 left")
        page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("status").filter(has_text="Revived 1,501 jobs.")).to_be_visible(timeout=60_000)
    assert not Job.objects.filter(status="dead").exists()


@LONG
def test_all_that_fit_are_cancelled_with_progress_and_stopped_half_way(context):
    """Stopped before the second thousand: the script waits a moment, so that somebody can."""
    copies(make_job(TenantFactory(slug="acme"), Status.SCHEDULED), 2_400)
    page = context().new_page()
    page.goto("jobs/?q=tenant:acme")
    page.get_by_label("all matches").check()
    expect(page.locator("#selected")).to_have_text("all matches")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cancel 2,401 jobs?")
    page.clock.install(time=0)
    page.clock.pause_at(1)  # the script's moment never comes
    page.get_by_role("button", name="Cancel them").click()
    expect(page.get_by_role("status")).to_contain_text("1,000 done, 1,401 left")
    page.get_by_role("link", name="Stop here").click()
    page.wait_for_url("**/ops/jobs/?q=tenant*")
    assert Job.objects.filter(status="cancelled").count() == 1_000


@LONG
def test_rows_of_a_list_stay_and_newer_jobs_are_told(context):
    tenant = TenantFactory(slug="acme")
    job = make_job(tenant)
    page = context().new_page()
    page.goto("jobs/?q=tenant:acme")
    make_job(TenantFactory())
    newer = make_job(tenant)
    expect(page.get_by_role("link", name="Show 1 newer")).to_be_visible(timeout=15_000)
    rows = page.locator("table.rows tbody th")
    expect(rows).to_have_text([str(job.pk)])
    page.get_by_role("link", name="Show 1 newer").click()
    expect(rows).to_have_text([str(newer.pk), str(job.pk)])


@LONG
@pytest.mark.parametrize(
    "path", ["", "tenants/alder/", "queues/", "jobs/", "dead/", "workers/", "schedules/", "health/"]
)
def test_without_scripts_every_page_is_there(context, path):
    build()
    page = context(360, scripts=False).new_page()
    assert page.goto(path).status == 200
    page.get_by_text("Menu").click()
    expect(page.get_by_role("link", name="Workers", exact=True)).to_be_visible()
