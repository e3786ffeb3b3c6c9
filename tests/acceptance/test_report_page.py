"""A member runs reports in a real browser, against a real web server and a real worker."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from playwright.sync_api import Page, expect

from jobs.models import Job
from reports.models import DataReport, DataSource
from tenants.models import TenantQueue
from tests.callers import browser_of
from tests.factories import MemberFactory, TenantFactory, database_url
from tests.waiting import wait_until

LONG = pytest.mark.long("this state of the page; the API's answers are in tests/integration/api")

LOCK = 4242  # while the test holds it, the report that asks for it runs

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def tenant():
    return TenantFactory(name="Owner & Co.")


@pytest.fixture
def make_report(tenant):
    source = DataSource.objects.create(tenant=tenant, name="Numbers", url=database_url())

    def make_report(sql: str, parameters: list[dict[str, object]] | None = None) -> DataReport:
        content = {"name": "Squares", "question": "How large?", "sql": sql, "parameters": parameters or []}
        return DataReport.objects.create(tenant=tenant, source=source, **content)

    return make_report


@pytest.fixture
def page(browser, web, tenant) -> Iterator[Page]:
    """A page of a member's browser, which must not meet an error of its own or ask anybody else for anything."""
    session = browser_of(MemberFactory(tenant=tenant).user)
    problems: list[str] = []
    context = browser.new_context(base_url=web.url)
    context.add_cookies([{"name": "sessionid", "value": session.cookies["sessionid"].value, "url": web.url}])
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: request.url.startswith((web.url, "data:")) or problems.append(request.url))
    yield page
    context.close()
    assert problems == []


@contextmanager
def report_kept_running() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def running() -> None:
    wait_until(lambda: Job.objects.filter(status="running").exists(), "the report runs")


def address(report: DataReport) -> str:
    return f"/reports/{report.pk}/"


def test_a_run_shows_its_table_without_a_reload(page, start_worker, make_report):
    start_worker()
    parameters = [{"name": "least", "default": 2, "label": "At least"}]
    numbers = "n AS a_number, n * 100000 AS large, n * 1000.25 AS part"
    sql = f"SELECT {numbers}, '<b>' || n || '</b>' AS text FROM generate_series(1, 4) AS n WHERE n >= %(least)s"
    page.goto(address(make_report(sql, parameters)))
    page.evaluate("window.loadedOnce = true")
    page.get_by_label("At least").fill("3")
    page.get_by_role("button", name="Run").click()
    table = page.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["a number", "large", "part", "text"])
    expect(table.get_by_role("cell")).to_have_text(
        [*("3", "300,000", "3,000.75", "<b>3</b>"), *("4", "400,000", "4,001.00", "<b>4</b>")]
    )
    expect(page.locator("#status")).to_have_text("Done")
    expect(page.locator("#note")).to_have_text("2 rows")
    expect(page.locator("#said")).to_have_text("Done. 2 rows")
    assert page.evaluate("window.loadedOnce")


@LONG
def test_where_no_stream_comes_through_the_run_is_followed_all_the_same(page, start_worker, make_report):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.route("**/events", lambda route: route.fulfill(status=503))
    page.goto(address(make_report(f"SELECT 'found' AS n FROM pg_advisory_xact_lock_shared({LOCK})")))
    with report_kept_running():
        page.get_by_role("button", name="Run").click()
        start_worker()
        expect(page.locator("#status")).to_have_text("Running")
    expect(page.get_by_role("cell")).to_have_text("found")
    assert any(url.endswith("/events") for url in asked)
    assert any("?wait=" in url for url in asked)


@LONG
def test_ten_clicks_run_one_job_and_say_so(page, start_worker, make_report):
    start_worker()
    page.goto(address(make_report(f"SELECT 1 AS n FROM pg_advisory_xact_lock_shared({LOCK})")))
    with report_kept_running():
        for _ in range(10):
            with page.expect_response("**/api/v1/jobs"):
                page.get_by_role("button", name="Run").click()
        running()
        expect(page.locator("#status")).to_have_text("Running")
        expect(page.locator("#hint")).to_contain_text("already on its way")
    expect(page.get_by_role("table")).to_be_visible()
    expect(page.locator("#hint")).to_be_hidden()
    assert Job.objects.count() == 1


@LONG
def test_a_reload_during_a_run_picks_it_up_again(page, start_worker, make_report):
    start_worker()
    page.goto(address(make_report(f"SELECT 'found' AS n FROM pg_advisory_xact_lock_shared({LOCK})")))
    with report_kept_running():
        page.get_by_role("button", name="Run").click()
        running()
        page.reload()
        expect(page.locator("#status")).to_have_text("Running")
        expect(page.locator("#note")).to_have_text("Asking Numbers")
    expect(page.get_by_role("cell")).to_have_text("found")
    assert Job.objects.count() == 1


@LONG
def test_a_run_says_what_it_waits_for_and_can_be_cancelled(page, tenant, make_report):
    TenantQueue.objects.filter(tenant=tenant).update(num_slots=0)
    page.goto(address(make_report("SELECT 1 AS n")))
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#why")).to_have_text("You have no slots, so no job can start.")
    assert page.locator("#job").get_attribute("href") == f"/jobs/{Job.objects.get().pk}/"
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#status")).to_have_text("Cancelled")
    expect(page.locator("#why")).to_be_hidden()


def test_a_run_waits_visibly_until_there_is_a_worker(page, start_worker, make_report):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address(make_report("SELECT 'found' AS n")))
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#status")).to_have_text("Waiting")
    expect(page.locator("#times")).to_contain_text("waited")
    start_worker()
    expect(page.get_by_role("cell")).to_have_text("found")
    assert not any("?wait=" in url for url in asked), "the stream has told everything"


@LONG
def test_a_report_that_fails_shows_why(page, start_worker, make_report):
    start_worker()
    page.goto(address(make_report("SELECT 1 / 0")))
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_have_text("The database refused the query: division by zero.")
    expect(page.locator("#status")).to_have_text("Failed")
    expect(page.get_by_role("table")).to_have_count(0)


def test_a_refused_request_shows_which_field(page, make_report):
    report = make_report("SELECT 1")
    page.goto(address(report))
    report.delete()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text("source_id")
    expect(page.get_by_role("progressbar", include_hidden=True)).to_be_hidden()
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_have_text("You were logged out, or this page is old. Please load it again.")


@LONG
def test_a_full_backlog_is_told_kindly(page, tenant, make_report):
    TenantQueue.objects.filter(tenant=tenant).update(max_waiting=0)
    page.goto(address(make_report("SELECT 1")))
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text("Please try again in a moment.")
    assert not Job.objects.exists()


def test_a_stranger_cannot_open_the_report(page, make_report):
    theirs = make_report("SELECT 1")
    stranger = TenantFactory()
    other = DataSource.objects.create(tenant=stranger, name="Theirs", url=theirs.source.url)
    foreign = DataReport.objects.create(tenant=stranger, source=other, name="Secret", question="?", sql="SELECT 1")
    assert page.goto(address(theirs)).status == 200
    assert page.goto(address(foreign)).status == 404
