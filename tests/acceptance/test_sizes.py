"""Each page with ten thousand tenants: nothing too wide, no error, nobody kept out.

    OPS_SHOTS=/tmp/sheets make test ARGS=tests/acceptance/test_sizes.py

opens them with none, one and fifteen, too, busy and quiet, in eight windows, and makes a sheet of pictures for each.
That takes half an hour on two cores; with `-k 15-busy-1440` two minutes. Look at the sheets after a change of the style
sheet.
"""

import psycopg
import pytest
from django.db import connection
from playwright.sync_api import Page

from jobs.models import Job
from jobs.sql import statement
from tenants.models import Member
from tests.acceptance.shots import SHOTS, contact_sheet, shoot
from tests.acceptance.sized_world import build
from tests.acceptance.test_ops_pages import FINE, LOOK, RULES_WITHOUT_CONTRAST, UNSTUCK

pytestmark = [
    pytest.mark.long("the look of pages with very few or very many rows, each in several windows"),
    pytest.mark.browser,
    pytest.mark.usefixtures("clock"),
    pytest.mark.django_db(transaction=True),
]
WORLDS, WINDOWS = [{"count": 10_000, "busy": True}], [(360, "dark")]
if SHOTS:  # to look at: too many for each run
    others = (0, False), (1, False), (1, True), (15, False), (15, True), (10_000, False)
    WORLDS += [{"count": count, "busy": busy} for count, busy in others]
    WINDOWS = [(width, scheme) for width in (360, 768, 1440, 1920) for scheme in ("light", "dark")]
MEMBERS = ("", "batches/", "usage/", "webhooks/")


@pytest.fixture
def clock(transactional_db):
    """A session that leads, or each page would begin with the alarm that no clock does."""
    with psycopg.connect(**connection.get_connection_params()) as session:
        session.execute(statement("lead"))
        yield session


@pytest.fixture
def visitors(world, window, context, context_of) -> dict[str, tuple[Page, list[str]]]:
    """An operator and a member: each with a page, and the paths that they open."""
    visitors = {"ops": (context(*window).new_page(), build(**world))}
    for member in Member.objects.all():  # one, or none
        jobs = Job.objects.filter(tenant=member.tenant).order_by("status").distinct("status")
        theirs = [*MEMBERS, *(f"{job.pk}/" for job in jobs)]
        visitors["members"] = (context_of(member.user, "/jobs/", *window).new_page(), theirs)
    return visitors


@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: "{}-{}".format(*window))
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: f"{world['count']}-{'busy' if world['busy'] else 'quiet'}")
def test_pages_keep_their_shape_however_many_tenants_there_are(visitors, request, browser):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    sheet, found = request.node.callspec.id, {}
    for who, (page, paths) in visitors.items():
        for number, path in enumerate(paths):
            page.goto(path)
            found[who, path] = page.evaluate(LOOK)
            page.evaluate(UNSTUCK)
            violations = axe.run(page, options=RULES_WITHOUT_CONTRAST).response["violations"]
            found[who, path, "axe"] = [(one["id"], one["nodes"][0]["html"][:200]) for one in violations]
            shoot(page, f"{sheet}-{who}-{number:02}")
    contact_sheet(browser, sheet)
    assert {where: what for where, what in found.items() if what not in (FINE, [])} == {}
