"""The conditions that operators should know of, as data: pure functions over the facts of a look.

The command `check_health`, the address `/metrics/health` and the metric `scheduler_condition` all use them; each has a
page in docs/runbooks/ with the remedy.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from jobs.conf import documented
from jobs.reading.health.facts import MINUTES, Facts
from jobs.reading.health.light import database_threads, loop_blocked
from jobs.reading.health.targets import targets_missed
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
MIN_JUDGED_ATTEMPTS, MAX_FAILED_SHARE = 50, 0.2  # attempts below which no share is judged; the share of failures
DEATHS = 10  # a minute


@dataclass(frozen=True)
class Condition:
    """A condition that holds.

    text: a sentence for people.
    runbook: the address or the file of the page that tells what to do.
    """

    code: str
    severity: Severity
    text: str
    runbook: str


@dataclass(frozen=True)
class Rule:
    """A condition that may hold.

    sentences: a function that yields a sentence for each fault.
    """

    code: str
    severity: Severity
    sentences: Callable[[Facts], Iterator[str]]


def runbook(code: str) -> str:
    """Return the address or the file of the page that tells what to do about a condition."""
    return documented(f"runbooks/{code}")


def conditions(facts: Facts) -> list[Condition]:
    """Return the conditions that hold; critical ones first, then warnings."""
    conditions = [Condition(r.code, r.severity, text, runbook(r.code)) for r in RULES for text in r.sentences(facts)]
    return sorted(conditions, key=lambda condition: get_args(Severity).index(condition.severity))


def _no_clock(facts: Facts) -> Iterator[str]:
    if not facts.server.clock_leads:
        yield "No clock leads: delays, retries and recoveries wait. Every worker has one."


def _no_worker(facts: Facts) -> Iterator[str]:
    for pool in facts.pools:
        moments = [moment for moment in (pool.first_since, facts.last_beat(pool.name)) if moment]
        is_new = moments and facts.seconds(max(moments)) <= RESTART
        if not pool.processes and pool.may_run and not is_new:
            yield f"Pool {pool.name} has no live worker, and {count_of_jobs(pool.may_run)} may run."


def _stalled(facts: Facts) -> Iterator[str]:
    for pool in facts.pools:
        if pool.processes > pool.in_use and pool.late and pool.idle_looks >= STALLED:
            yield f"Pool {pool.name} has an idle {pool.unit}, and {count_of_jobs(pool.late)} may run but did not start."


def _pool_short(facts: Facts) -> Iterator[str]:
    for pool in facts.pools:
        if 0 < pool.processes <= pool.in_use and pool.late and pool.late_seconds > SHORT:
            more = f"{pool.missing} more {pool.unit if pool.missing == 1 else pool.units} would be busy."
            yield f"Pool {pool.name} lacks {pool.units}: {count_of_jobs(pool.may_run)} could start now; {more}"


def _nothing_ends(facts: Facts) -> Iterator[str]:
    for one in facts.quiet:
        if one.seconds > UNUSUAL * one.usual:
            busy = f"its only {one.pool.unit} is" if one.pool.processes == 1 else f"all its {one.pool.units} are"
            yield (
                f"Nothing has ended in pool {one.pool.name} for {duration(one.seconds)}: {busy} busy with jobs of "
                f"which 95 of 100 take no more than {duration(one.usual)}."
            )


def _tenant_starved(facts: Facts) -> Iterator[str]:
    for tenant in facts.starved:
        part = percent(tenant.got, tenant.entitled)
        yield f"Tenant {printable(tenant.name)} got {part} of its fair share in the last minutes, and has jobs waiting."


def _messages_lost(facts: Facts) -> Iterator[str]:
    if facts.server.untaken:
        yield f"No worker took up the messages of {count_of_jobs(facts.server.untaken)}: the broker or a worker hangs."


def _worker_silent(facts: Facts) -> Iterator[str]:
    for workers in _workers(facts, "silent"):
        yield f"{workers} missed three heartbeats."


def _worker_cut_off(facts: Facts) -> Iterator[str]:
    for workers in _workers(facts, "cut off"):
        yield f"{workers} cannot reach the broker, or do not take its messages: their idle processes get no job."


def _worker_lost(facts: Facts) -> Iterator[str]:
    for workers in _workers(facts, "lost"):
        yield f"{workers} went silent in the last hour without stopping: killed, or cut off from the network."


def _workers(facts: Facts, sought: str) -> Iterator[str]:
    for pool, state, workers in facts.worker_states:
        if state == sought:
            yield f"{workers} worker{'s' if workers > 1 else ''} of pool {pool or 'unknown'}"


def _failures(facts: Facts) -> Iterator[str]:
    ended = facts.ended
    if ended.attempts >= MIN_JUDGED_ATTEMPTS and ended.failed > MAX_FAILED_SHARE * ended.attempts:
        yield f"{ended.failed} of {ended.attempts} attempts failed in {MINUTES} minutes."


def _deaths(facts: Facts) -> Iterator[str]:
    if facts.ended.died > DEATHS * MINUTES:
        yield f"{facts.ended.died} jobs died in {MINUTES} minutes."


def _repairs(facts: Facts) -> Iterator[str]:
    for repair in facts.repairs:
        if (age := facts.seconds(repair.last_at)) < REPAIRED:
            yield f"Repaired {age:.0f} s ago: {repair.kind} ({repair.count} in all)."


def _transaction_old(facts: Facts) -> Iterator[str]:
    if facts.server.oldest_transaction > TRANSACTION:
        yield f"A transaction is {facts.server.oldest_transaction:.0f} s old: no dead row can be removed meanwhile."


def _replication_behind(facts: Facts) -> Iterator[str]:
    server = facts.server
    if server.kept_log > KEPT_LOG:
        kept = f"{server.kept_log / 2**30:.1f} GiB of WAL"
        yield f"PostgreSQL keeps {kept} for replication slot {printable(server.kept_for)}, whose reader falls behind."


def _connections(facts: Facts) -> Iterator[str]:
    used, limit = facts.server.connections, facts.server.max_connections
    if used > CONNECTIONS * limit:
        yield f"{used} of {limit} connections to PostgreSQL are in use."


def _cache_away(facts: Facts) -> Iterator[str]:
    if not facts.cache:
        yield "The cache does not answer: results are not kept."


def _recorder_late(facts: Facts) -> Iterator[str]:
    age = facts.server.recorder_age
    if age is not None and age > RECORDER:
        yield f"The recorder last looked {age:.0f} s ago: the statistics stand still."


def _predictions_off(facts: Facts) -> Iterator[str]:
    accuracy = facts.predictions
    if accuracy.off:
        part = percent(accuracy.held_lately, accuracy.known_lately)
        yield f"In the last hour {part} of jobs started by their p90, not 90 %: pages hide p90 until it is reliable."


def _webhooks_failing(facts: Facts) -> Iterator[str]:
    if failing := facts.webhooks.failing_long:
        subject = "webhook has" if failing == 1 else "webhooks have"
        yield f"{failing} {subject} failed for more than an hour: their tenants' systems do not take messages."


def _budget_low(facts: Facts) -> Iterator[str]:
    for budget in facts.budgets:
        used_up = "; jobs that spend it wait for the next month" if budget.state == "used up" else ""
        used = f"{percent(budget.used, budget.amount)} of its budget of {budget.unit}"
        yield f"Tenant {printable(budget.tenant)} has used {used} for this month{used_up}."


RULES = (
    Rule("no_clock", "critical", _no_clock),
    Rule("no_worker", "critical", _no_worker),
    Rule("stalled", "critical", _stalled),
    Rule("messages_lost", "critical", _messages_lost),
    Rule("tenant_starved", "warning", _tenant_starved),
    Rule("pool_short", "warning", _pool_short),
    Rule("targets_missed", "warning", targets_missed),
    Rule("nothing_ends", "warning", _nothing_ends),
    Rule("worker_cut_off", "warning", _worker_cut_off),
    Rule("worker_silent", "warning", _worker_silent),
    Rule("worker_lost", "warning", _worker_lost),
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
