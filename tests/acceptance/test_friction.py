"""A project with every friction that real ones had takes jobs up, and they run."""

import os
import subprocess
import sys

import pytest

from embedded import REPOSITORY
from embedded.engines import BROKER, CACHE, DATABASE, NAMES

pytestmark = pytest.mark.long("its parts are in the short run: tests/friction, tests/mirrored, tests/adopter")


def test_a_hundred_jobs_of_ten_tenants_run_and_are_shown():
    ours = {"PYTEST_XDIST_WORKER", NAMES, DATABASE, BROKER, CACHE}
    environ = {name: value for name, value in os.environ.items() if name not in ours}
    environ["DJANGO_SETTINGS_MODULE"] = "tests.friction.settings"
    walk = [sys.executable, "-m", "embedded", "run", "--throwaway", "--", sys.executable, "-m", "tests.friction.walk"]
    ran = subprocess.run(walk, cwd=REPOSITORY, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-6000:]
