"""The settings of the tests, with a model of the project's own that is mirrored."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, INSTALLED_APPS

INSTALLED_APPS = ["tests.mirrored.apps.Board", *INSTALLED_APPS]
JOBS_TENANT_MIRROR = "board.Project"
JOBS_TENANT_SLUG = "code"
DATABASES["default"]["TEST"] = {"NAME": f"test_mirrored_{os.getpid()}"}  # beside that of the tests that run this
