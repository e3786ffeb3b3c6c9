"""JobFilters the dead letters, for their page and for bulk changes."""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Q, QuerySet

from jobs.console.operations.filters import JobFilters
from jobs.models import DeadLetter
from jobs.pages.typed import texts
from jobs.reading import queries
from plumbing.error_shapes import key_of

FILTERS = ("tenant", "queue", "type", "source", "error", "like", "since", "until")
UNGROUPED = "not grouped"  # jobs that died in a worker of an older release, after the migration


def filters_of(given: Mapping[str, str]) -> dict[str, str]:
    """Return the filters of a form or an address, without empty ones."""
    return {name: value for name, value in texts(given, FILTERS).items() if value}


def matching(filters: Mapping[str, str], now: datetime, upto: datetime | None = None) -> QuerySet[DeadLetter]:
    """Return the dead letters that match all filters, latest death first.

    Raises InvalidRequest, which names the filter and the allowed values.

    now: the moment from which `since` and `until` count back
    upto: leave out letters that died later
    """
    terms = JobFilters(since="died_at")
    for name, value in filters.items():
        if name == "like":
            terms.others &= Q(error_key=None if value == UNGROUPED else key_of(value))
        else:
            terms.add(name, value, now)
    early = Q() if upto is None else Q(died_at__lte=upto)
    return queries.dead_letters().filter(early, terms.owned, terms.others)
