"""The operators' pages in a real browser, with the longest names: nothing overlaps, and nothing is out of sight."""

import pytest
from django.utils import timezone

from jobs.models import Schedule, ScheduleRun
from reports.models import DataReport, DataSource
from tenants import auth
from tenants.models import Member
from tests.acceptance.test_ops_pages import RULES
from tests.callers import superuser
from tests.factories import QueueFactory, TenantFactory, UserFactory
from tests.thorough import THOROUGH

pytestmark = [
    pytest.mark.long("long names in the admin's layout"),
    pytest.mark.browser,
    pytest.mark.timeout(600),
    pytest.mark.django_db(transaction=True),
]
THEIRS = {  # what axe finds in the frame of unfold, and in the widgets of Django
    *("landmark-one-main", "landmark-unique", "region", "target-size", "link-in-text-block", "empty-table-header"),
    *("aria-input-field-name", "aria-prohibited-attr", "color-contrast"),  # select2; the two boxes of permissions
    "label-title-only",  # a date and its time, from Django 6.1 on
}
OURS = RULES | {"rules": {rule: {"enabled": False} for rule in THEIRS}}
TOO_WIDE = """() => [document.documentElement, document.querySelector('.simplebar-content-wrapper:has(#result_list)')]
  .some(e => e?.scrollWidth > e?.clientWidth)"""
OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('#main label, #main td, #main th, #main .readonly')]
    .filter(e => e.offsetParent && e.textContent.trim() && !e.querySelector('label, td, th, .readonly'))
    .map(e => { const r = document.createRange(); r.selectNodeContents(e); return [e, r.getBoundingClientRect()]; });
  const found = boxes.length || location.pathname === '/admin/' ? [] : ['nothing was looked at'];
  for (const [a, p] of boxes) for (const [b, q] of boxes)
    if (a !== b && p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1)
      found.push(a.textContent.trim().slice(0, 30) + ' / ' + b.textContent.trim().slice(0, 30));
  return found;
}"""
# A text of which each line has a word or less: its column is too narrow.
NARROW = """() => [...document.querySelectorAll('#main form :is(p, div, label, a, .readonly)')]
  .filter(e => e.offsetParent && [...e.childNodes].some(n => n.nodeType === 3 && /\\S+\\s+\\S+\\s+\\S+/.test(n.data)))
  .filter(e => e.getBoundingClientRect().width < 4 * parseFloat(getComputedStyle(e).fontSize))
  .map(e => e.textContent.trim().slice(0, 40))"""


@pytest.fixture
def pages(db):
    """Of a job, and of what it is about, whose every name is as long as it may be."""
    user = superuser(username="olga")
    user.set_password("correct horse battery")
    user.save()
    tenant = TenantFactory(name="T" * 200)
    queue = QueueFactory(name="q" * 50)
    auth.issue(tenant, "k" * 100)
    member = UserFactory(username="l" * 150, email="e" * 200 + "@example.com", first_name="f" * 100)
    Member.objects.create(user=member, tenant=tenant)
    source = DataSource.objects.create(tenant=tenant, name="S" * 100, url=f"postgresql://u:p@example.com/{'d' * 60}")
    schedule = Schedule.objects.create(
        tenant=tenant,
        name="c" * 300,
        cron="*/5 9-17 1,15 1-6 MON-FRI",
        source_type="a" * 200,
        source_id="1" * 100,
        source_method="m" * 100,
        args={"k" * 200: "v" * 200},
        starts_at=timezone.now(),
        paused=True,
        paused_because="b" * 300,
    )
    ScheduleRun.objects.create(schedule=schedule, due=timezone.now(), note="o" * 300)
    DataReport.objects.create(tenant=tenant, source=source, name="R" * 100, question="Q" * 300, sql="SELECT 1")
    return [
        "", "jobs/queue/", f"jobs/queue/{queue.pk}/change/",
        "jobs/schedule/", "jobs/schedule/add/", f"jobs/schedule/{schedule.pk}/change/",
        *(f"tenants/{name}/" for name in ("tenantqueue", "tenant", "apikey")), f"tenants/tenant/{tenant.pk}/change/",
        "auth/user/", f"auth/user/{member.pk}/change/", "reports/datareport/", "reports/datasource/",
    ]  # fmt: skip


def test_names_of_200_characters_stay_in_their_place(pages, web, browser, subtests):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    refused = []
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    page.goto(f"{web.url}/admin/")
    page.fill("#id_username", "olga")
    page.fill("#id_password", "correct horse battery")
    page.click("main button")
    for width in (360, 1280, *([1440, 1920] if THOROUGH else [])):
        with subtests.test(width=width):
            page.set_viewport_size({"width": width, "height": 900})
            found = {}
            for path in pages:
                page.goto(f"{web.url}/admin/{path}")
                too_wide = page.evaluate(TOO_WIDE)
                found[path] = (too_wide, page.evaluate(OVERLAPS), page.evaluate(NARROW))
                for one in axe.run(page, options=OURS).response["violations"]:
                    found[path, one["id"]] = [node["html"][:200] for node in one["nodes"]]
            assert {path: what for path, what in found.items() if what != (False, [], [])} == {}
    page.goto(f"{web.url}/admin/tenants/tenantqueue/")
    page.emulate_media(forced_colors="active")
    switch = page.locator("[name=form-0-paused]")
    off = switch.screenshot()
    switch.evaluate("e => e.checked = true")
    assert switch.screenshot() != off, "high contrast hides it"
    assert not refused, "something is missing, or its policy forbids it"
