"""A short run of `make chaos`, with a new seed each time; a failure prints it. Left out with `-k "not chaos"`."""

import subprocess
import sys

import pytest

from embedded import REPOSITORY
from tests.hosts import missing
from tests.thorough import only_thorough, sized

pytestmark = pytest.mark.long("deaths that happen together; one alone is in tests/integration/engine/test_recover.py")

SECONDS = sized(15, thorough=30)  # of deaths; the start, the calm afterwards and the verdict take about as long again
STORM_SECONDS = sized(25, thorough=120)


def run(*options: object) -> str:
    """The run's table. Raises AssertionError if there was a violation."""
    command = [sys.executable, "-m", "tests.chaos", *map(str, options), "--pause", "1"]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_people_who_use_every_verb_over_paths_that_break_find_nothing_lost_or_exceeded():
    table = run("--seconds", STORM_SECONDS, "--storm")
    for what in ("path to the database cut", "path to broker and cache cut", "delete guest", "tenants limits"):
        assert what in table, "it has not happened: the run proves nothing"


@only_thorough
def test_chaos_on_hosts_whose_network_breaks_loses_nothing_either():
    if missing():
        pytest.skip(missing())
    table = run("--seconds", SECONDS, "--hosts")
    for death in ("host cut off from the database", "host cut off from broker and cache", "packets lost"):
        assert death in table, "it has not struck: the run proves nothing"


def test_chaos_loses_nothing_exceeds_nothing_and_starts_nothing_twice():
    table = run("--seconds", SECONDS)
    for death in ("database failed over", "database restarted (immediate)"):
        assert death in table, "it has not struck: the run proves nothing"
