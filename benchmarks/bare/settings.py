"""The project's settings for the database; nothing else of it: no middleware, no other app."""

from scheduler_project.settings import *  # noqa: F403

INSTALLED_APPS = ["benchmarks.bare"]
MIDDLEWARE: list[str] = []
ROOT_URLCONF = "benchmarks.bare.urls"
