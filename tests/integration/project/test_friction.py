"""Pages and settings in a project that has what was in the way in real ones."""

import os
import re
import subprocess
import sys

import pytest

from embedded import REPOSITORY
from plumbing.names import OURS


@pytest.mark.long("a page or a setting that a friction stops; below is where it would be asked for")
def test_all_works_in_a_project_with_every_friction_at_once():
    """In a process of its own: the user model is settled when the models are imported."""
    environ = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.friction.settings"}
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/friction/suite.py"]
    ran = subprocess.run(argv, cwd=REPOSITORY, env=environ, capture_output=True, text=True, timeout=200, check=False)
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]


ONE_PLACE = {  # what a project may not have: the only file that asks for it
    r"is_staff": "tenants/operators.py",
    r"[\"']admin:|(url |address\()[\"']logout": "plumbing/addresses.py",
    r"django\.template\.loader|shortcuts import .*\brender\b": "plumbing/rendering.py",
    r"core\.cache import .*\bcache\b": "",
}


@pytest.mark.parametrize(("words", "place"), ONE_PLACE.items())
def test_parts_that_a_project_may_lack_are_named_in_one_place(words, place):
    files = [path for app in OURS for kind in ("py", "html") for path in (REPOSITORY / app).rglob(f"*.{kind}")]
    found = {str(path.relative_to(REPOSITORY)) for path in files if re.search(words, path.read_text())}
    assert found <= {place}
