"""Tenant models of other people's projects, and users and permissions of their own."""

import os
import subprocess
import sys

import pytest

from embedded import REPOSITORY


@pytest.mark.parametrize(
    "project",
    [
        "adopter",
        "own_auth",
        pytest.param("mirrored", marks=pytest.mark.long("a mirror that does not follow; its checks are unit tests")),
    ],
)
def test_all_works_with_models_that_others_wrote(project):
    """In a process of its own: the models are settled when ours are imported."""
    environ = os.environ | {"DJANGO_SETTINGS_MODULE": f"tests.{project}.settings"}
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/{project}/suite.py"]
    ran = subprocess.run(argv, cwd=REPOSITORY, env=environ, capture_output=True, text=True, timeout=200, check=False)
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
