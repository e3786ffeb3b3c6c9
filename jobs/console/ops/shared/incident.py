"""Tell the conditions that hold as causes with their consequences, each with its cure.

A cure is a link to the page where an operator mends the cause. The template adds the button that pauses a job type.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from django.http import HttpRequest
from django.urls import reverse

from jobs.console.ops.shared.taken_back import TakenBack, taken_back
from jobs.console.remedies import Switch
from jobs.engine.door.repairs import ORPHAN
from jobs.reading.health import Chain, Condition, Facts
from plumbing.names import named

WORKERS = ("Workers", "workers", "jobs.view_worker")
QUEUES = ("Queues", "queues", "jobs.view_queue")
DEAD = ("Dead letters", "dead", "jobs.view_deadletter")
# By condition: the page on which an operator sees more, or acts; its label, its name and its permission.
PAGES: Mapping[str, tuple[str, str, str]] = {
    **dict.fromkeys(("no_clock", "no_worker", "stalled", "pool_short", "nothing_ends", "messages_lost"), WORKERS),
    **dict.fromkeys(("worker_cut_off", "worker_silent", "worker_lost", "loop_blocked", "database_threads"), WORKERS),
    "targets_missed": QUEUES,
    "deaths": DEAD,
    "webhooks_failing": ("Webhooks", "webhooks", "jobs.view_webhookendpoint"),
}
OF_TENANT = frozenset({"tenant_starved", "budget_low"})


@dataclass(frozen=True)
class ToldCondition:
    """A condition with its cures, those that the user may use."""

    condition: Condition
    cures: Sequence[Switch]


@dataclass(frozen=True)
class ToldChain:
    """A cause with its consequences; `more` further ones are not listed.

    lost: the jobs that were taken back from the lost workers that the cause is about.
    """

    severity: str
    cause: ToldCondition
    lost: Sequence[TakenBack]
    consequences: Sequence[ToldCondition]
    more: int


def told(request: HttpRequest, chains: Sequence[Chain], facts: Facts, most: int) -> list[ToldChain]:
    """Return what a page tells of these chains, with at most so many consequences of each; 0: of the causes alone."""
    return [_chain(request, chain, facts, most) for chain in chains]


def _chain(request: HttpRequest, chain: Chain, facts: Facts, most: int) -> ToldChain:
    lost = _lost(request, chain.cause, facts) if most else ()
    # The repair that took them back says less than their ids.
    others = [one for one in chain.consequences if not lost or one.fault.subject != ORPHAN]
    listed = [_condition(request, one) for one in others[:most]]
    return ToldChain(chain.severity, _condition(request, chain.cause), lost, listed, len(others) - len(listed))


def _lost(request: HttpRequest, cause: Condition, facts: Facts) -> Sequence[TakenBack]:
    if cause.code != "worker_lost" or not request.user.has_perm(named("jobs.view_job")):
        return ()
    return [*taken_back(worker for worker in facts.lost if worker.pool == cause.fault.subject).values()]


def _condition(request: HttpRequest, one: Condition) -> ToldCondition:
    return ToldCondition(one, [cure for cure in _cures(one) if request.user.has_perm(named(cure.permission))])


def _cures(one: Condition) -> Iterator[Switch]:
    subject = one.fault.subject
    if one.code == "failures" and subject:
        search = f"{reverse('jobs_ops:jobs')}?q={quote(f'status:error type:{subject}')}"
        yield Switch("Errors", search, "jobs.view_job")
        yield Switch("Dead letters", f"{reverse('jobs_ops:dead')}?type={quote(subject)}", "jobs.view_deadletter")
    elif one.code in OF_TENANT:
        yield Switch("Its page", reverse("jobs_ops:tenant", args=[subject]), "tenants.view_tenantqueue")
    elif one.code in PAGES:
        label, page, permission = PAGES[one.code]
        yield Switch(label, reverse(f"jobs_ops:{page}"), permission)
