"""The members' pages of jobs in a real browser: narrow and wide, light and dark, with scripts and without."""

from itertools import product

import pytest
from playwright.sync_api import expect

from jobs import store
from jobs.lifecycle import Status
from jobs.models import Batch, Job
from reports.models import DataReport, DataSource
from tenants.models import Tenant
from tests.acceptance.ops_world import build
from tests.acceptance.shots import shoot
from tests.acceptance.test_ops_pages import FINE, LOOK, RULES, RULES_WITHOUT_CONTRAST
from tests.factories import MemberFactory, TenantFactory, database_url, make_job
from tests.waiting import wait_until

LONG = pytest.mark.long("long names in the layout, and what the script moves")

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OPENED = [Status.CREATED, Status.RUNNING, Status.SUCCESS, Status.DEAD]  # jobs whose page is looked at


@LONG
@pytest.mark.timeout(600)
def test_nothing_is_cut_off_and_nobody_kept_out_whatever_the_names(context_of, subtests):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    build()
    _name_what_the_jobs_are_about()
    members = {tenant: MemberFactory(tenant=tenant).user for tenant in Tenant.objects.order_by("slug")}
    for (width, scheme), (tenant, member) in product([(360, "dark"), (1280, "light")], members.items()):
        with subtests.test(scheme, width=width, tenant=tenant.slug):
            page, found = context_of(member, "/jobs/", width, scheme).new_page(), {}
            rules = RULES if tenant.slug == "alder" else RULES_WITHOUT_CONTRAST  # another name has the same colours
            jobs = Job.objects.filter(tenant=tenant, status__in=OPENED).order_by("status", "pk").distinct("status")
            batches = [f"batches/{one.pk}/" for one in Batch.objects.filter(tenant=tenant)]
            for path in ("", *(f"{job.pk}/" for job in jobs), "batches/", *batches, "usage/", "webhooks/"):
                page.goto(path)
                found[path] = page.evaluate(LOOK)
                violations = axe.run(page, options=rules).response["violations"]
                found[path, "axe"] = [(one["id"], one["nodes"][0]["html"][:200]) for one in violations]
                name = path.strip("/").replace("/", "-") or "list"
                shoot(page, f"members-{tenant.slug[:10]}-{name}-{width}-{scheme}")
            assert {where: what for where, what in found.items() if what not in (FINE, [])} == {}
            page.context.close()


def test_without_scripts_a_member_sees_a_job_wait_and_cancels_it(context_of):
    tenant = TenantFactory()
    first, second = make_job(tenant), make_job(tenant)
    page = context_of(MemberFactory(tenant=tenant).user, "/jobs/", scripts=False).new_page()
    page.goto("")
    expect(page.locator(f"#job-{second.pk}")).to_contain_text("Number 2 in line.")
    page.get_by_role("button", name=f"Cancel job {first.pk}").click()
    expect(page.get_by_role("status").filter(has_text=f"Job {first.pk} is cancelled.")).to_be_visible()
    expect(page.locator(f"#job-{second.pk}")).to_contain_text("Number 1 in line.")
    wait_until(lambda: Job.objects.get(pk=first.pk).status == "cancelled", "it is cancelled")


@LONG
def test_the_list_follows_what_happens_and_moves_no_row(context_of):
    tenant = TenantFactory()
    job = make_job(tenant, Status.RUNNING, progress=0.1)
    page = context_of(MemberFactory(tenant=tenant).user, "/jobs/").new_page()
    page.goto("")
    row = page.locator("tbody tr").first
    expect(row).to_contain_text("Running")
    page.emulate_media(forced_colors="active")
    bar, little = row.locator("progress"), row.locator("progress").screenshot()
    Job.objects.filter(pk=job.pk).update(progress=0.5, progress_note="half way")
    newer = make_job(tenant)
    expect(row).to_contain_text("half way", timeout=15_000)
    assert bar.screenshot() != little
    expect(bar).to_have_css("print-color-adjust", "exact")
    expect(page.locator(f"#job-{newer.pk}")).to_be_visible(timeout=15_000)
    expect(row).to_contain_text("Running")
    page.locator(f"#job-{newer.pk} .do").hover()  # the next refresh waits until the pointer is gone
    Job.objects.filter(pk=job.pk).update(progress_note="nearly there")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # as if the page was opened again
    page.wait_for_load_state("networkidle")
    expect(row).to_contain_text("half way")
    page.locator("h1").hover()
    expect(row).to_contain_text("nearly there", timeout=15_000)
    page.goto(f"{job.pk}/")
    said = page.locator("h1 [aria-live=polite]").element_handle()  # the element that a reader of screens listens to
    assert store.succeed(job.pk, job.attempt, {}, None)
    expect(page.locator("h1")).to_contain_text("Done", timeout=15_000)
    assert said.text_content() == "Done"


def _name_what_the_jobs_are_about() -> None:
    tenant = Tenant.objects.get(slug="alder")
    source = DataSource.objects.create(tenant=tenant, name="Sales", url=database_url())
    content = {"name": "Possible futures", "question": "What may come?", "sql": "SELECT 1"}
    DataReport.objects.create(pk=1, tenant=tenant, source=source, **content)
