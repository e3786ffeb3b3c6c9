"""Sum the jobs that hold a process by worker, tenant or job type; each tenant has a colour. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from jobs.console.ops.shared.snapshot import Snapshot
from jobs.reading.looking import SlotsInUse

BY = ("worker", "tenant", "type")
COLOURS = 7  # of the tenants with the most; the others share one more


@dataclass(frozen=True)
class Taker:
    """A worker, a tenant or a job type, with the processes that its jobs hold.

    key: the worker, None for jobs that no process has started yet; or the tenant; or the name of the type
    slug: of a tenant
    room: the processes of a worker, or its seats; None: not known, or no worker
    by_tenant: the processes, by the colour of the tenant
    """

    key: Any
    name: str
    slug: str
    in_use: int
    room: int | None
    by_tenant: Mapping[int, int]

    @property
    def idle(self) -> int:
        return max((self.room or 0) - self.in_use, 0)

    @property
    def bar(self) -> SafeString:
        """Draw its processes, a piece for each colour."""
        pieces, place = [], 0
        for colour, jobs in sorted(self.by_tenant.items()):
            pieces.append((colour, place, jobs))
            place += jobs
        return format_html(
            '<svg class="taken" viewBox="0 0 {} 1" preserveAspectRatio="none" aria-hidden="true">{}</svg>',
            max(self.in_use, self.room or 0),
            format_html_join("", '<path class="t{0}" d="M{1} 0h{2}v1H{1}z"/>', pieces),
        )


def colours(present: Snapshot) -> dict[int, int]:
    """Return the colour of each tenant with processes: from 0, COLOURS for all further ones."""
    held: Counter[int] = Counter()
    for use in present.in_use:
        held[use.tenant_id] += use.slots
    ordered = sorted(held, key=lambda pk: (-held[pk], pk))
    return {pk: min(place, COLOURS) for place, pk in enumerate(ordered)}


def takers(present: Snapshot, by: str) -> list[Taker]:
    """Return those that hold processes, and with "worker" all registered workers; those with most first.

    by: one of BY
    """
    colour_of, grouped = colours(present), _grouped(present.in_use, by)
    workers = {worker.id: worker for worker in present.workers if worker.gone_at is None}
    keys: Iterable[Any] = {**dict.fromkeys(grouped), **(dict.fromkeys(workers) if by == "worker" else {})}
    found = []
    for key in keys:
        uses = grouped.get(key, [])
        by_tenant: Counter[int] = Counter()
        for use in uses:
            by_tenant[colour_of[use.tenant_id]] += use.slots
        tenant, worker = present.tenants.get(key) if by == "tenant" else None, workers.get(key)
        known = tenant or worker
        name = known.name if known else "not started yet" if key is None else str(key)
        slug, room = tenant.slug if tenant else "", worker.concurrency if worker else None
        found.append(Taker(key, name, slug, by_tenant.total(), room, by_tenant))
    return sorted(found, key=lambda one: (-one.in_use, one.name))


def _grouped(in_use: Iterable[SlotsInUse], by: str) -> dict[Any, list[SlotsInUse]]:
    grouped: dict[Any, list[SlotsInUse]] = {}
    for use in in_use:
        key = {"worker": use.worker, "tenant": use.tenant_id, "type": use.job_type}[by]
        grouped.setdefault(key, []).append(use)
    return grouped
