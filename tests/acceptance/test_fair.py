"""The suite that compares queues plays a scenario with two of them, and writes what it measured."""

import json
import subprocess
import sys

import pytest

from embedded import REPOSITORY
from tests.thorough import only_thorough


@only_thorough  # forty seconds
@pytest.mark.long("an adapter of ours that no longer starts, a runner that measures nothing")
def test_a_flood_is_played_with_two_queues_and_one_keeps_its_limits(without_engines, tmp_path):
    results = tmp_path / "fair.json"
    argv = [sys.executable, "-m", "benchmarks.fair", "--peers", "light,celery", "--scenarios", "flood"]
    argv += ["--scale", "0.3", "--json", str(results)]
    done = subprocess.run(
        argv, cwd=REPOSITORY, env=without_engines, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ours, celery = (run["figures"] for run in json.loads(results.read_text())["runs"])
    assert ours["violations"] == 0
    assert ours["wait_p50_s"] < celery["wait_p50_s"]
    assert celery["most"] > celery["limit"]
