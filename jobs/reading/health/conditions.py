"""The conditions that operators should know of, as data: pure functions over the facts of a look.

The command `check_health`, the address `/metrics/health` and the metric `scheduler_condition` all use them; each has a
page in docs/runbooks/ with the remedy.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from jobs.conf import documented
from jobs.engine.door.repairs import ORPHAN, in_words
from jobs.reading.health.facts import MINUTES, Facts
from jobs.reading.health.fault import Fault
from jobs.reading.health.light import database_threads, loop_blocked
from jobs.reading.health.targets import targets_missed
from jobs.reading.health.workers import worker_cut_off, worker_lost, worker_silent
from jobs.reading.shares import percent
from plumbing.text import count_of_jobs, duration, printable

Severity = Literal["critical", "warning", "info"]  # info: no job suffers
RESTART = 30.0  # seconds without a worker that a deploy may take
STALLED = 3  # looks of the recorder in a row, 5 s apart or more; the clock dispatches every second
SHORT = 60.0  # seconds that a job waits for a process
UNUSUAL = 5  # times the p95 of the job types that run in a pool, without an end there
TRANSACTION = 600.0  # seconds of a transaction that keeps dead rows
RECORDER = 180.0  # seconds; it counts minutes every 20; its other tasks pause when it is slow
REPAIRED = 600.0  # seconds for which a repair counts as recent
KEPT_LOG = 2**30  # bytes of WAL that the server keeps for a replication slot
CONNECTIONS = 0.8  # of those that the server allows
DEATHS = 10  # a minute


@dataclass(frozen=True)
class Condition:
    """A condition that holds.

    runbook: the address or the file of the page that tells what to do.
    fault: what is at fault.
    """

    code: str
    severity: Severity
    fault: Fault
    runbook: str

    @property
    def text(self) -> str:
        """Return a sentence for people."""
        return self.fault.text

    def document(self) -> dict[str, str]:
        """Return the fields for programs."""
        return {"code": self.code, "severity": self.severity, "text": self.text, "runbook": self.runbook}


@dataclass(frozen=True)
class Rule:
    """A condition that may hold.

    faults: a function that yields each fault.
    """

    code: str
    severity: Severity
    faults: Callable[[Facts], Iterator[Fault]]


def runbook(code: str) -> str:
    """Return the address or the file of the page that tells what to do about a condition."""
    return documented(f"runbooks/{code}")


def conditions(facts: Facts) -> list[Condition]:
    """Return the conditions that hold; critical ones first, then warnings."""
    conditions = [Condition(r.code, r.severity, fault, runbook(r.code)) for r in RULES for fault in r.faults(facts)]
    return sorted(conditions, key=lambda condition: get_args(Severity).index(condition.severity))


def _no_clock(facts: Facts) -> Iterator[Fault]:
    if not facts.server.clock_leads:
        yield Fault("No clock leads: delays, retries and recoveries wait. Every worker has one.")


def _no_worker(facts: Facts) -> Iterator[Fault]:
    for pool in facts.pools:
        moments = [moment for moment in (pool.first_since, facts.last_beat(pool.name)) if moment]
        is_new = moments and facts.seconds(max(moments)) <= RESTART
        if not pool.processes and pool.may_run and not is_new:
            text = f"Pool {pool.name} has no live worker, and {count_of_jobs(pool.may_run)} may run."
            yield Fault(text, pools=frozenset({pool.name}), since=max(moments, default=None))


def _stalled(facts: Facts) -> Iterator[Fault]:
    for pool in facts.pools:
        if pool.processes > pool.in_use and pool.late and pool.idle_looks >= STALLED:
            text = (
                f"Pool {pool.name} has an idle {pool.unit}, and {count_of_jobs(pool.late)} may run but did not start."
            )
            yield Fault(text, pools=frozenset({pool.name}), since=_before(facts, pool.late_seconds))


def _pool_short(facts: Facts) -> Iterator[Fault]:
    for pool in facts.pools:
        if 0 < pool.processes <= pool.in_use and pool.late and pool.late_seconds > SHORT:
            more = f"{pool.missing} more {pool.unit if pool.missing == 1 else pool.units} would be busy."
            text = f"Pool {pool.name} lacks {pool.units}: {count_of_jobs(pool.may_run)} could start now; {more}"
            yield Fault(text, pools=frozenset({pool.name}), since=_before(facts, pool.late_seconds))


def _nothing_ends(facts: Facts) -> Iterator[Fault]:
    for one in facts.quiet:
        if one.seconds > UNUSUAL * one.usual:
            busy = f"its only {one.pool.unit} is" if one.pool.processes == 1 else f"all its {one.pool.units} are"
            text = (
                f"Nothing has ended in pool {one.pool.name} for {duration(one.seconds)}: {busy} busy with jobs of "
                f"which 95 of 100 take no more than {duration(one.usual)}."
            )
            yield Fault(text, pools=frozenset({one.pool.name}), since=_before(facts, one.seconds))


def _tenant_starved(facts: Facts) -> Iterator[Fault]:
    short = frozenset(pool.name for pool in facts.pools if pool.is_short)
    for tenant in facts.starved:
        part = percent(tenant.got, tenant.entitled)
        text = (
            f"Tenant {printable(tenant.name)} got {part} of its fair share in the last minutes, and has jobs waiting."
        )
        yield Fault(text, tenant.slug, short)


def _messages_lost(facts: Facts) -> Iterator[Fault]:
    if facts.server.untaken:
        untaken = count_of_jobs(facts.server.untaken)
        yield Fault(f"No worker took up the messages of {untaken}: the broker or a worker hangs.")


def _before(facts: Facts, seconds: float) -> datetime:
    return facts.server.now - timedelta(seconds=seconds)


def _failures(facts: Facts) -> Iterator[Fault]:
    ended = facts.ended
    if ended.many_failed:
        text = f"{ended.failed:,} of {ended.attempts:,} attempts failed in {MINUTES} minutes."
        if worst := ended.worst:
            text = f"{printable(worst.job_type)}: {worst.failed:,} of {worst.attempts:,} attempts failed"
            whose = f", of {worst.tenants} tenant{'' if worst.tenants == 1 else 's'}" if worst.tenants else ""
            others = f"; of all job types {ended.failed:,} of {ended.attempts:,}" if ended.failed > worst.failed else ""
            text += f" in {MINUTES} minutes{whose}{others}."
        yield Fault(text, worst.job_type if worst else "", since=worst.since if worst else None)


def _deaths(facts: Facts) -> Iterator[Fault]:
    if facts.ended.died > DEATHS * MINUTES:
        subject = facts.ended.worst.job_type if facts.ended.worst else ""
        yield Fault(f"{facts.ended.died:,} jobs died in {MINUTES} minutes.", subject)


def _repairs(facts: Facts) -> Iterator[Fault]:
    for repair in facts.repairs:
        if (age := facts.seconds(repair.last_at)) < REPAIRED:
            text = f"Repaired {age:.0f} s ago: {in_words(repair.kind)} ({repair.count:,} in all)."
            yield Fault(text, repair.kind, None if repair.kind == ORPHAN else frozenset(), repair.last_at)


def _transaction_old(facts: Facts) -> Iterator[Fault]:
    if (age := facts.server.oldest_transaction) > TRANSACTION:
        text = f"A transaction is {age:.0f} s old: no dead row can be removed meanwhile."
        yield Fault(text, since=_before(facts, age))


def _replication_behind(facts: Facts) -> Iterator[Fault]:
    server = facts.server
    if server.kept_log > KEPT_LOG:
        kept = f"{server.kept_log / 2**30:.1f} GiB of WAL"
        slot = f"replication slot {printable(server.kept_for)}"
        yield Fault(f"PostgreSQL keeps {kept} for {slot}, whose reader falls behind.")


def _connections(facts: Facts) -> Iterator[Fault]:
    used, limit = facts.server.connections, facts.server.max_connections
    if used > CONNECTIONS * limit:
        yield Fault(f"{used} of {limit} connections to PostgreSQL are in use.")


def _cache_away(facts: Facts) -> Iterator[Fault]:
    if not facts.cache:
        yield Fault("The cache does not answer: results are not kept.")


def _recorder_late(facts: Facts) -> Iterator[Fault]:
    age = facts.server.recorder_age
    if age is not None and age > RECORDER:
        text = f"The recorder last looked {age:.0f} s ago: the statistics stand still."
        yield Fault(text, since=_before(facts, age))


def _predictions_off(facts: Facts) -> Iterator[Fault]:
    accuracy = facts.predictions
    if accuracy.off:
        part = percent(accuracy.held_lately, accuracy.known_lately)
        yield Fault(
            f"In the last hour {part} of jobs started by their p90, not 90 %: pages hide p90 until it is reliable."
        )


def _webhooks_failing(facts: Facts) -> Iterator[Fault]:
    if failing := facts.webhooks.failing_long:
        subject = "webhook has" if failing == 1 else "webhooks have"
        yield Fault(f"{failing} {subject} failed for more than an hour: their tenants' systems do not take messages.")


def _budget_low(facts: Facts) -> Iterator[Fault]:
    for budget in facts.budgets:
        used_up = "; jobs that spend it wait for the next month" if budget.state == "used up" else ""
        used = f"{percent(budget.used, budget.amount)} of its budget of {budget.unit}"
        yield Fault(f"Tenant {printable(budget.tenant)} has used {used} for this month{used_up}.", budget.tenant)


RULES = (
    Rule("no_clock", "critical", _no_clock),
    Rule("no_worker", "critical", _no_worker),
    Rule("stalled", "critical", _stalled),
    Rule("messages_lost", "critical", _messages_lost),
    Rule("tenant_starved", "warning", _tenant_starved),
    Rule("pool_short", "warning", _pool_short),
    Rule("targets_missed", "warning", targets_missed),
    Rule("nothing_ends", "warning", _nothing_ends),
    Rule("worker_cut_off", "warning", worker_cut_off),
    Rule("worker_silent", "warning", worker_silent),
    Rule("worker_lost", "warning", worker_lost),
    Rule("loop_blocked", "warning", loop_blocked),
    Rule("database_threads", "warning", database_threads),
    Rule("failures", "warning", _failures),
    Rule("deaths", "warning", _deaths),
    Rule("repairs", "warning", _repairs),
    Rule("transaction_old", "warning", _transaction_old),
    Rule("replication_behind", "warning", _replication_behind),
    Rule("connections", "warning", _connections),
    Rule("cache_away", "warning", _cache_away),
    Rule("recorder_late", "warning", _recorder_late),
    Rule("predictions_off", "info", _predictions_off),
    Rule("webhooks_failing", "info", _webhooks_failing),
    Rule("budget_low", "info", _budget_low),
)
