"""Say what other limits would have done: the answer in a sentence, and the difference of each lane. Pure.

The page, the API and the command line show the same words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobs.insight.forecasting.replay.compare import LEAST_CHANGE, LEAST_WAIT, MOST_ERROR, Comparison, LaneWaits
from jobs.reading.shares import percent
from plumbing.text import count_of_jobs, duration

NAMED = 2  # lanes that the answer names for each direction; it counts the others
MOST_PERCENT = 2.0  # times the wait, beyond which a factor is easier to read than a percentage
SAME = "no noticeable difference"
RULE = (
    f"A difference is noticeable if the mean wait changes by at least {percent(LEAST_CHANGE, 1)} and {LEAST_WAIT} s, "
    "and by more than the replay misses it in that lane."
)


@dataclass(frozen=True)
class Names:
    """The names of tenants and queues, by id; those that are deleted are missing."""

    tenants: Mapping[int, str]
    queues: Mapping[int, str]

    def of(self, line: LaneWaits) -> str:
        tenant = self.tenants.get(line.tenant_id, "a deleted tenant")
        return f"{tenant} in queue {self.queues.get(line.queue_id, 'that is deleted')}"


def difference(line: LaneWaits) -> str:
    """Return what the other limits would do to a lane: "12 % less", "3 times as long", "4 jobs would not start"."""
    if line.changed is None:
        return ""
    if not line.noticeable:
        return SAME
    if line.never:
        return f"{count_of_jobs(line.never)} would not start"
    was, now = line.replayed.mean or 0.0, line.changed.mean or 0.0
    if now < was:
        return f"{percent(was - now, was)} less"
    if now <= MOST_PERCENT * was:
        return f"{percent(now - was, was)} longer"
    return f"{now / was:,.0f} times as long" if was >= LEAST_WAIT else "longer"


def accuracy(result: Comparison) -> str:
    """Return how accurate the replay is, in a sentence; "" if nothing was replayed."""
    if result.error is None:
        return ""
    off = f"Accuracy: replaying the real limits misses the mean wait by {percent(result.error.mean, 1)}"
    errors = f"{off}, the p95 by {percent(result.error.p95, 1)}"
    return f"{errors}. The replay assumes that the same jobs come, and run as long as they did."


def told(result: Comparison, names: Names) -> str:
    """Return the answer in a sentence.

    result: its lines, those that change most first
    """
    if result.error is None:
        return "No attempt of this time can be replayed."
    if not result.knows:
        return f"No answer: the replay of the real limits is more than {percent(MOST_ERROR, 1)} off."
    if all(line.changed is None for line in result.lines):
        return "No limit was changed: this compares the replay of the real limits with what happened."
    noticed = [line for line in result.lines if line.noticeable]
    if not noticed:
        return "No tenant would wait noticeably less or longer."
    stuck = [line for line in noticed if line.never]
    less = [line for line in noticed if line.change < 0]
    longer = [line for line in noticed if line.change > 0 and not line.never]
    sides = [_never(stuck, names), _waits(less, names, "less"), _waits(longer, names, "longer")]
    if not stuck and not longer:
        sides.append("no other tenant would wait noticeably longer")
    if not less:
        sides.append("no tenant would wait noticeably less")
    return f"{'; '.join(side for side in sides if side)}."


def _never(lines: Sequence[LaneWaits], names: Names) -> str:
    named = [f"{count_of_jobs(line.never)} of {names.of(line)}" for line in lines[:NAMED]]
    return f"{_listed(named, len(lines))} would not start" if lines else ""


def _waits(lines: Sequence[LaneWaits], names: Names, direction: str) -> str:
    if not lines:
        return ""
    named = [
        f"{names.of(line)} {_means(line) if n else f'would wait {_means(line)} on average'} ({difference(line)})"
        for n, line in enumerate(lines[:NAMED])
    ]
    more = len(lines) - len(named)
    return _listed(named, len(lines)) + (f" would wait {direction}" if more else "")


def _means(line: LaneWaits) -> str:
    now = line.changed.mean if line.changed else None
    return f"{duration(now or 0.0)} instead of {duration(line.replayed.mean or 0.0)}"


def _listed(named: Sequence[str], count: int) -> str:
    more = count - len(named)
    if more:
        return f"{', '.join(named)}, and {more:,} more lane{'s' if more > 1 else ''}"
    return " and ".join(named)
