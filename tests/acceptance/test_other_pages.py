"""The pages beside those of operators and members: login, password, reports, what is not there. No one is kept out."""

from itertools import product

import pytest
from playwright.sync_api import Page, expect

from jobs.lifecycle import Status
from reports.models import DataReport, DataSource
from tests.acceptance.test_ops_pages import AXE, RULES
from tests.factories import MemberFactory, UserFactory, database_url, make_job

pytestmark = [
    pytest.mark.long("axe on the pages of login, password and reports"),
    pytest.mark.browser,
    pytest.mark.timeout(600),
    pytest.mark.django_db(transaction=True),
]

UNHELPED = "[...document.querySelectorAll('[aria-describedby]')].some(e => !e.ariaDescribedByElements.length)"


def test_axe_finds_nothing_on_the_other_pages_and_none_is_too_wide(context_of, problems, subtests):
    member = MemberFactory()
    source = DataSource.objects.create(tenant=member.tenant, name="Numbers", url=database_url())
    report = DataReport.objects.create(
        tenant=member.tenant, source=source, name="R" * 100, question="Q" * 300, sql="SELECT 1"
    )
    make_job(member.tenant, Status.CREATED, source_type="reports.datareport", source_id=str(report.pk))
    paths = {member.user: ("", f"reports/{report.pk}/", "accounts/password/", "nowhere/", "accounts/login/")}
    paths[member.user] += ("api/v1/docs",)
    paths[UserFactory(is_staff=True)] = ("ops/", "accounts/second-factor/")
    for (width, scheme), (user, theirs) in product([(360, "dark"), (768, "light"), (1440, "light")], paths.items()):
        with subtests.test(scheme, width=width, user=user.username):
            page = context_of(user, "/", width, scheme).new_page()
            found = {path: faults(page, path, axe=(width, scheme) in AXE) for path in theirs}
            assert {where: what for where, what in found.items() if what} == {}
            page.context.close()
    page = context_of(member.user, "/").new_page()
    page.goto("api/v1/docs/endpoints")
    expect(page.locator(".opblock").first).to_be_visible(timeout=60_000)
    problems[:] = [one for one in problems if "status of 40" not in one]  # Chromium's words about what is not there


def faults(page: Page, path: str, *, axe: bool) -> list[object]:
    """Open the page; return what axe and we have against it."""
    page.goto(path)
    page.evaluate("document.querySelectorAll('.start details').forEach(one => one.open = true)")
    found: list[object] = []
    if axe:
        looked = pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run(page, options=RULES)
        found += [(one["id"], one["nodes"][0]["html"][:200]) for one in looked.response["violations"]]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("too wide")
    page.emulate_media(forced_colors="active")
    if page.evaluate("[...document.images].some(e => !getComputedStyle(e).backgroundColor.endsWith(' 255)'))"):
        found.append("a QR code that no camera reads")
    page.emulate_media(forced_colors="none")
    if page.evaluate(UNHELPED):
        found.append("a field whose help is not there")
    return found
