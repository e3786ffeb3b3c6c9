"""The project's settings and middleware, so that only the endpoints differ: these addresses lead to the bare ones."""

from benchmarks.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.bare.urls"
