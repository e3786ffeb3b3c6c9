"""The names of the job types that this release knows."""

from jobs.calls import registry
from jobs.pages.cached import PAST_SECONDS, cached


@cached(PAST_SECONDS, before=())  # to look at all models takes a tenth of a second
def known_types() -> tuple[str, ...]:
    return tuple(map(str, registry.targets()))
