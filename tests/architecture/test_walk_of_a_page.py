"""The files that a reader opens to follow a refresh of the operators' Overview, counted from the code."""

from tests.architecture.walks import walk

BUDGET = 52  # with the statements and their chapters, the conditions with their causes, the marks; it only shrinks


def test_a_refresh_of_the_overview_opens_few_files() -> None:
    walked = walk("jobs.console.ops.overview.view:show")
    read = {"jobs/sql/looking/look_lanes.sql", "jobs/sql/health/short.sql", "jobs/pages/regions.py"}
    assert read <= {*walked.files}, "the walk is cut off"
    assert len(walked.opened) <= BUDGET, "\n".join(walked.opened)
    assert walked.climbs == []
