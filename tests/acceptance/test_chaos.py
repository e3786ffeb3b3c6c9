"""A short run of `make chaos`, with a new seed each time; a failure prints it. Left out with `-k "not chaos"`."""

import subprocess
import sys

import pytest

from embedded import REPOSITORY
from tests.thorough import sized

pytestmark = pytest.mark.long("deaths that happen together; one alone is in tests/integration/engine/test_recover.py")

SECONDS = sized(20, thorough=30)  # of deaths; the start, the calm afterwards and the verdict take about as long again


def test_chaos_loses_nothing_exceeds_nothing_and_starts_nothing_twice():
    command = [sys.executable, "-m", "tests.chaos", "--seconds", str(SECONDS), "--pause", "1"]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for death in ("database failed over", "database restarted (immediate)"):
        assert death in ended.stdout, "it has not struck: the run proves nothing"
