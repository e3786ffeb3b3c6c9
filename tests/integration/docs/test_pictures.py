"""The pictures of the documentation show the pages as they are: none is long older than the templates it shows."""

import subprocess

import pytest

from embedded import REPOSITORY

PICTURES = REPOSITORY / "docs" / "pictures"
PAGES = {"job": "job", "overview": "overview", "tenants": "tenants"}  # picture: page, which has a folder of its own
GRACE = 7 * 86_400  # seconds for which a template may be ahead: `make pictures` follows a change, not each commit


def last_change(*paths: str) -> int:
    """The moment of the last commit that changed one of them; 0 if git knows nothing of them."""
    asked = ["git", "log", "-1", "--format=%ct", "--", *paths]
    ran = subprocess.run(asked, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return int(ran.stdout or 0)


def test_every_picture_is_of_a_known_page():
    assert {path.stem.rpartition("-")[0] for path in PICTURES.glob("*.png")} == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_picture_is_hardly_older_than_its_templates(name):
    folder = f"jobs/templates/jobs/ops/{PAGES[name]}"
    charts = [f"jobs/console/ops/shared/{module}.py" for module in ("ended_chart", "strips")]
    page = last_change(folder, "jobs/static/jobs/ops/ops.css", *charts)
    for scheme in ("light", "dark"):
        taken = last_change(f"docs/pictures/{name}-{scheme}.png")
        assert taken + GRACE >= page, "the page has changed: make pictures"
