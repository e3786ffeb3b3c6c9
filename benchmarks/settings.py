"""The project's settings, with the benchmark's own jobs and its bare endpoint's tables."""

from scheduler_project.settings import *  # noqa: F403
from scheduler_project.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.workload", "benchmarks.bare"]
JOBS_API_RATE = 0  # no limit: the measuring clients send requests as fast as they can
