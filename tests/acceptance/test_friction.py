"""Projects with the frictions that real ones had take jobs up, and they run."""

import os
import subprocess
import sys

import pytest

from embedded import REPOSITORY
from embedded.engines import BROKER, CACHE, DATABASE, NAMES

pytestmark = pytest.mark.long(
    "its parts are in the short run: tests/friction, tests/mirrored, tests/adopter, tests/own_auth"
)


@pytest.mark.parametrize("project", ["friction", "own_auth"])
def test_jobs_of_several_tenants_run_and_are_shown(project):
    ours = {"PYTEST_XDIST_WORKER", NAMES, DATABASE, BROKER, CACHE}
    environ = {name: value for name, value in os.environ.items() if name not in ours}
    environ["DJANGO_SETTINGS_MODULE"] = f"tests.{project}.settings"
    walk = [sys.executable, "-m", "embedded", "run", "--throwaway", "--", sys.executable, "-m", f"tests.{project}.walk"]
    ran = subprocess.run(walk, cwd=REPOSITORY, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-6000:]
