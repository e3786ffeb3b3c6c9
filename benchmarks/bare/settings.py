"""The project's settings and middleware with the URLs of the bare endpoints, so that only the endpoints differ."""

from benchmarks.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.bare.urls"
