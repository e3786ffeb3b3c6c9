"""The files that a reader opens to follow a refresh of the operators' Overview, counted from the code."""

from tests.architecture.walks import walk

HEALTH = ("jobs.reading.health.facts:look", "jobs.reading.health.conditions:conditions")  # the walk of the page Health
BUDGET = 39  # with the statements; it only shrinks
WITHOUT_HEALTH = 30


def test_a_refresh_of_the_overview_opens_few_files() -> None:
    walked = walk("jobs.console.ops.views.overview:show")
    assert {"jobs/sql/looking/look_lanes.sql", "jobs/pages/regions.py"} <= {*walked.files}, "the walk is cut off"
    assert len(walked.files) <= BUDGET, "\n".join(walked.files)
    assert walked.climbs == []


def test_without_the_look_of_health_it_opens_less() -> None:
    walked = walk("jobs.console.ops.views.overview:show", beyond=HEALTH)
    assert "jobs/sql/looking/look_lanes.sql" in walked.files, "the walk is cut off"
    assert len(walked.files) <= WITHOUT_HEALTH, "\n".join(walked.files)
