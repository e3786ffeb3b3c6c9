"""The Django app of forecasts and what-ifs. A project that leaves it out has none of them."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig

from plumbing.names import named


class InsightConfig(AppConfig):
    name = "jobs.insight"
    label = named("insight")
    verbose_name = "Insight"

    def ready(self) -> None:
        from jobs import extensions
        from jobs.insight import starts
        from jobs.reading import predictor

        predictor.register(starts)
        extensions.register(extensions.Extension(_duties, _routers, _pages, _subcommands))


def _duties() -> Sequence[Any]:
    from jobs.insight.forecasts.duty import duties

    return duties()


def _routers() -> Sequence[Any]:
    from jobs.insight.what_if_api import router

    return [router]


def _pages() -> Sequence[Any]:
    from jobs.insight.what_if_pages import urlpatterns

    return urlpatterns


def _subcommands() -> Sequence[Any]:
    from jobs.insight.what_if_command import WHAT_IF

    return [WHAT_IF]
