"""Each page with ten thousand tenants: nothing too wide, no error, nobody kept out.

    OPS_SHOTS=/tmp/sheets make test ARGS=tests/acceptance/test_sizes.py

opens them with none, one and fifteen, too, in eight windows, and makes a sheet of pictures for each. That takes ten
minutes or more on two cores: look at the sheets after a change of the style sheet.
"""

import psycopg
import pytest
from django.db import connection

from jobs.models import Job
from jobs.sql import statement
from tenants.models import Member
from tests.acceptance.shots import SHOTS, contact_sheet, shoot
from tests.acceptance.sized_world import build
from tests.acceptance.test_ops_pages import FINE, LOOK, RULES

pytestmark = [
    pytest.mark.long("the look of pages with very few or very many rows, each in several windows"),
    pytest.mark.browser,
    pytest.mark.usefixtures("clock"),
    pytest.mark.django_db(transaction=True),
]
WORLDS, WINDOWS = [(10_000, True)], [(360, "dark")]
if SHOTS:  # to look at: too many for each run
    WORLDS += [(0, False), (1, True), (15, False), (15, True)]
    WINDOWS = [(width, scheme) for width in (360, 768, 1440, 1920) for scheme in ("light", "dark")]
MEMBERS = ("", "batches/", "usage/", "webhooks/")


@pytest.fixture
def clock(transactional_db):
    """A session that leads, or each page would begin with the alarm that no clock does."""
    with psycopg.connect(**connection.get_connection_params()) as session:
        session.execute(statement("lead"))
        yield session


@pytest.mark.parametrize(("count", "busy"), WORLDS)
def test_pages_keep_their_shape_however_many_tenants_there_are(count, busy, context, context_of, browser):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    paths, found = build(count, busy=busy), {}
    for width, scheme in WINDOWS:
        sheet = f"{count}-{'busy' if busy else 'quiet'}-{width}-{scheme}"
        pages = [(context(width, scheme).new_page(), paths, "ops")]
        for member in Member.objects.all():  # one, or none
            jobs = Job.objects.filter(tenant=member.tenant).order_by("status").distinct("status")
            theirs = [*MEMBERS, *(f"{job.pk}/" for job in jobs)]
            pages.append((context_of(member.user, "/jobs/", width, scheme).new_page(), theirs, "members"))
        for page, its, who in pages:
            for number, path in enumerate(its):
                page.goto(path)
                found[sheet, who, path] = page.evaluate(LOOK)
                if width == 360:  # a card for each row: the other windows have the same elements and colours
                    violations = axe.run(page, options=RULES).response["violations"]
                    found[sheet, who, path, "axe"] = [(one["id"], one["nodes"][0]["html"][:200]) for one in violations]
                shoot(page, f"{sheet}-{who}-{number:02}")
            page.context.close()
        contact_sheet(browser, sheet)
    assert {where: what for where, what in found.items() if what not in (FINE, [])} == {}
