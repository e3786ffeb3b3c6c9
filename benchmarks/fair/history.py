"""From the rings of the bell to figures: who ran when, who was over a limit, who waited, who got how much."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, inf

from .bell import CUT, START, Ring

GRACE = 1.0  # seconds after a change of a limit in which the old one still counts: a body may be on its way


@dataclass
class Run:
    """One run of a body. end: infinite while it runs. cut: its process died."""

    tenant: str
    id: int
    start: float
    end: float = inf
    cut: bool = False


@dataclass
class Limits:
    """The slots of each tenant, and since when; changes later in the list replace earlier ones."""

    changes: dict[str, list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))

    def set(self, tenant: str, slots: int, moment: float) -> None:
        """It holds from this moment on; the old one still counts for GRACE, if it was higher."""
        self.changes[tenant].append((moment, slots))

    def last(self, tenant: str) -> int:
        """The slots that were set last."""
        return self.changes[tenant][-1][1]

    def allowed(self, tenant: str, moment: float) -> int:
        """The most bodies of the tenant that may run after a start at this moment."""
        found = 0
        for place, (since, slots) in enumerate(self.changes[tenant]):
            if since > moment:
                break
            before = self.changes[tenant][place - 1][1] if place else 0
            found = max(slots, before) if moment < since + GRACE else slots
        return found


@dataclass
class AtOnce:
    """The bodies of one tenant at once. limit: in force at that moment; over: starts beyond the limit."""

    most: int = 0
    limit: int = 0
    over: int = 0


def runs(rings: Iterable[Ring]) -> list[Run]:
    """All runs, in the order of their starts."""
    running: dict[tuple[int, int], Run] = {}
    found: list[Run] = []
    for ring in rings:
        if ring.event == START:
            run = Run(ring.tenant, ring.id, ring.moment)
            running[ring.link, ring.id] = run
            found.append(run)
        elif (run_or_none := running.pop((ring.link, ring.id), None)) is not None:
            run_or_none.end, run_or_none.cut = ring.moment, ring.event == CUT
    return found


def at_once(rings: Iterable[Ring], limits: Limits) -> dict[str, AtOnce]:
    """By tenant: the moment at which it was furthest over its limit, or nearest to it, and the starts beyond it."""
    running: Counter[str] = Counter()
    found: dict[str, AtOnce] = defaultdict(AtOnce)
    for ring in rings:
        running[ring.tenant] += 1 if ring.event == START else -1
        if ring.event != START:
            continue
        now, allowed, tenant = running[ring.tenant], limits.allowed(ring.tenant, ring.moment), found[ring.tenant]
        tenant.over += now > allowed
        if not tenant.limit or now - allowed > tenant.most - tenant.limit:
            tenant.most, tenant.limit = now, allowed
    return found


def twice_at_once(found: Sequence[Run]) -> int:
    """Runs of a job that began while another run of the same job went on."""
    until: dict[int, float] = {}
    twice = 0
    for run in found:
        twice += run.start < until.get(run.id, -inf)
        until[run.id] = max(until.get(run.id, -inf), run.end)
    return twice


def seconds(found: Iterable[Run], begin: float, end: float, tenants: Collection[str]) -> dict[str, float]:
    """Seconds of bodies of each of these tenants between two moments."""
    total = dict.fromkeys(tenants, 0.0)
    for run in found:
        if run.tenant in total:
            total[run.tenant] += max(0.0, min(run.end, end) - max(run.start, begin))
    return total


def jain(shares: Collection[float]) -> float:
    """Jain's index: 1 if all have the same, 1/n if one has all; 0 if nobody has anything."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 0.0


def quantile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of all do not exceed."""
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]
