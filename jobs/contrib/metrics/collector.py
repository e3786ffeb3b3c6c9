"""The metrics of the scheduler for Prometheus, from one look at the database.

No label names a tenant, a user or a job, so the number of series depends on queues, pools and job types alone.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from jobs.reading.health import RULES, Facts, conditions
from jobs.reading.health.looks import ForecastLook, PredictionsLook, TotalLook, WebhooksLook
from jobs.reading.standing import StandingState
from jobs.reading.statistics import BOUNDS, added

STEP = 4  # buckets of the tables in one bucket of a metric: ten are enough for quantiles, and save memory of Prometheus
UPPER_BOUNDS = BOUNDS[STEP - 1 :: STEP]


class Look(Collector):
    def __init__(self, facts: Facts, totals: Sequence[TotalLook], forecasts: ForecastLook) -> None:
        self._facts, self._totals, self._forecasts = facts, totals, forecasts

    def collect(self) -> Iterator[Metric]:
        yield from _queues(self._facts)
        yield from _pools(self._facts)
        yield from _light_pools(self._facts)
        yield from _tenants(self._facts)
        yield from _server(self._facts)
        yield from _conditions(self._facts)
        yield from _predictions(self._facts.predictions)
        yield from _webhooks(self._facts.webhooks)
        yield from _forecasts(self._forecasts)
        yield from _attempts(self._totals)


def gauge(name: str, text: str, labels: Sequence[str], rows: Iterable[tuple[Sequence[str], float]]) -> Metric:
    family = GaugeMetricFamily(f"scheduler_{name}", text, labels=labels)
    for label_values, value in rows:
        family.add_metric(label_values, value)
    return family


def alone(name: str, text: str, value: float | None) -> Metric:
    """Return a gauge without labels; it has no line if the value is None, which means not known."""
    return gauge(name, text, [], [] if value is None else [([], value)])


def _queues(facts: Facts) -> Iterator[Metric]:
    labelled = [([standing.queue.name], standing) for standing in facts.standings]
    waiting = [(name, standing.waiting) for name, standing in labelled]
    yield gauge("waiting_jobs", "Jobs scheduled or ready, about.", ["queue"], waiting)
    yield gauge("slots_in_use", "Slots in use.", ["queue"], [(name, standing.in_use) for name, standing in labelled])
    oldest = [(name, facts.seconds(standing.first_since)) for name, standing in labelled]
    yield gauge("oldest_waiting_seconds", "Longest time that a first job has been ready.", ["queue"], oldest)


def _pools(facts: Facts) -> Iterator[Metric]:
    pools = facts.pools
    yield gauge(
        "pool_processes",
        "Processes of its live workers; in a light pool their seats.",
        ["pool"],
        [([p.name], p.processes) for p in pools],
    )
    yield gauge("pool_slots_in_use", "Slots in use.", ["pool"], [([p.name], p.in_use) for p in pools])
    late = [([p.name], p.late) for p in pools]
    yield gauge("may_run_jobs", "Jobs that lacked only a process in both of two looks, of up to 200.", ["pool"], late)
    waits = [([p.name], p.late_seconds) for p in pools]
    yield gauge("may_run_seconds", "Longest time that one of them has lacked only a process.", ["pool"], waits)
    yield gauge(
        "pool_demand",
        "Processes that could be busy now; in a light pool seats.",
        ["pool"],
        [([p.name], p.demand) for p in pools],
    )
    workers = [([pool, state], count) for pool, state, count in facts.worker_states]
    yield gauge(
        "workers", "Workers: live, draining, cut off, silent, or lost in the last hour.", ["pool", "state"], workers
    )


def _light_pools(facts: Facts) -> Iterator[Metric]:
    waits = facts.database_waits
    times, seconds = dict.fromkeys(waits, 0), dict.fromkeys(waits, 0.0)
    for one in facts.blocks:
        times[one.pool] = times.get(one.pool, 0) + one.times
        seconds[one.pool] = seconds.get(one.pool, 0.0) + one.seconds
    now = Counter(block.pool for block in facts.blocked)
    for name, text, by_pool in (
        ("blocked_loops", "Event loops that a body blocks now.", {pool: now[pool] for pool in {**times, **now}}),
        ("loop_blocks", "Blocks of event loops in the last ten minutes that are over.", times),
        ("loop_blocked_seconds", "How long they took, all together.", seconds),
        ("database_wait_seconds", "Longest wait of a body for a database thread, in the last beats.", waits),
    ):
        yield gauge(name, text, ["pool"], [([pool], value) for pool, value in by_pool.items()])


def _tenants(facts: Facts) -> Iterator[Metric]:
    counts = [
        ([state.value], facts.sample.states.get(state.value, 0))
        for state in StandingState
        if state != StandingState.IDLE
    ]
    yield gauge("tenants", "Tenants with work, in the recorder's newest sample.", ["state"], counts)
    index = facts.sample.fairness
    yield alone("fairness_jain_ratio", "Jain's index of what tenants got of their shares in the last hour.", index)


def _server(facts: Facts) -> Iterator[Metric]:
    server = facts.server
    yield alone("clock_leads", "1 if a clock leads.", server.clock_leads)
    yield alone("recorder_age_seconds", "Time since the recorder last looked.", server.recorder_age)
    yield alone("oldest_transaction_seconds", "Age of this database's oldest transaction.", server.oldest_transaction)
    yield alone("replication_kept_bytes", "WAL kept for the replication slot that is most behind.", server.kept_log)
    yield alone("database_connections", "Connections that count for the limit below.", server.connections)
    limit = server.max_connections
    yield alone("database_max_connections", "The lowest limit of the server, this database and this role.", limit)
    yield alone("dead_jobs", "Dead letters, counted to 10,000.", server.dead)
    repairs = CounterMetricFamily("scheduler_repairs", "Repairs of the clock.", labels=["kind"])
    for repair in facts.repairs:
        repairs.add_metric([repair.kind], repair.count)
    yield repairs


def _conditions(facts: Facts) -> Iterator[Metric]:
    holding = {condition.code for condition in conditions(facts)}
    rows = [([rule.code, rule.severity], float(rule.code in holding)) for rule in RULES]
    yield gauge("condition", "1 while it holds: see docs/runbooks.", ["code", "severity"], rows)


def _predictions(look: PredictionsLook) -> Iterator[Metric]:
    resolved = {"0.5": (look.held_50, look.known_50), "0.9": (look.held_90, look.known_90)}
    coverage = [([q], part / known) for q, (part, known) in resolved.items() if known]
    yield gauge(
        "prediction_coverage_ratio",
        "Part of the predictions of the last day whose job started by the predicted moment.",
        ["quantile"],
        coverage,
    )
    losses_by_method = {"said": (look.loss_50, look.loss_90), "jobs ahead": (look.ahead_50, look.ahead_90)}
    losses_by_method["last waits"] = look.past_50, look.past_90
    rows = [
        ([q, method], loss) for method, pair in losses_by_method.items() for q, loss in zip(resolved, pair, strict=True)
    ]
    losses = [(labels, loss) for labels, loss in rows if loss is not None]
    yield gauge("prediction_loss_seconds", "Mean pinball loss of the last day.", ["quantile", "method"], losses)


def _webhooks(look: WebhooksLook) -> Iterator[Metric]:
    states = [([state], getattr(look, state)) for state in ("working", "failing", "off")]
    yield gauge("webhooks", "Endpoints of tenants.", ["state"], states)
    yield alone("webhook_messages_waiting", "Messages to endpoints that are on, each counted to 10,000.", look.waiting)
    yield alone("webhook_oldest_seconds", "Time since the job of the oldest of them ended.", look.oldest)


def _forecasts(look: ForecastLook) -> Iterator[Metric]:
    predictions = CounterMetricFamily(
        "scheduler_predictions", "Kept. said: yes (both moments), or a reason.", labels=["said"]
    )
    for reason, count in {"": 0, **look.reasons}.items():
        predictions.add_metric([reason or "yes"], count)
    yield predictions
    ages = [([pool], age) for pool, age in look.ages.items()]
    yield gauge("forecast_age_seconds", "Age of the newest forecast; no line if no job is in line.", ["pool"], ages)
    yield alone("forecast_seconds", "Time that the last forecast of all pools took.", look.seconds)


def _attempts(totals: Sequence[TotalLook]) -> Iterator[Metric]:
    ended = CounterMetricFamily("scheduler_attempts", "Attempts that ended.", labels=["queue", "job_type", "outcome"])
    run = HistogramMetricFamily("scheduler_attempt_run_seconds", "From start to end.", labels=["queue", "job_type"])
    wait = HistogramMetricFamily("scheduler_attempt_wait_seconds", "From ready to start.", labels=["queue"])
    process_wait = HistogramMetricFamily(
        "scheduler_attempt_process_wait_seconds",
        "The part of the wait in which the tenant's own limits did not hold the job.",
        labels=["queue"],
    )
    targeted = CounterMetricFamily(
        "scheduler_targeted_attempts", "Attempts whose queue had a wait target when they started.", labels=["queue"]
    )
    in_time = CounterMetricFamily(
        "scheduler_in_time_attempts", "Attempts that waited for a process no longer than that target.", labels=["queue"]
    )
    for total in totals:
        ended.add_metric([total.queue, _type(total), total.outcome], total.attempts)
    for labels, group in _by(totals, lambda total: (total.queue, _type(total))):
        run.add_metric(
            labels, _buckets(total.run_buckets for total in group), sum(total.run_seconds for total in group)
        )
    for labels, group in _by(totals, lambda total: (total.queue,)):
        wait.add_metric(
            labels, _buckets(total.wait_buckets for total in group), sum(total.wait_seconds for total in group)
        )
        process_wait.add_metric(
            labels,
            _buckets(total.process_wait_buckets for total in group),
            sum(total.process_wait_seconds for total in group),
        )
        if had_target := sum(total.targeted for total in group):
            targeted.add_metric(labels, had_target)
            in_time.add_metric(labels, sum(total.in_time for total in group))
    yield from (ended, run, wait, process_wait, targeted, in_time)


def _by(
    totals: Sequence[TotalLook], key: Callable[[TotalLook], tuple[str, ...]]
) -> list[tuple[tuple[str, ...], list[TotalLook]]]:
    groups = defaultdict(list)
    for total in totals:
        groups[key(total)].append(total)
    return list(groups.items())


def _type(total: TotalLook) -> str:
    return f"{total.source_type}.{total.source_method}"


def _buckets(histograms: Iterable[Sequence[int]]) -> list[tuple[str, float]]:
    """Return cumulative counts by upper bound, as Prometheus has them."""
    counts = added(histograms)
    bounds = [(str(bound), float(sum(counts[: STEP * n + STEP]))) for n, bound in enumerate(UPPER_BOUNDS)]
    return [*bounds, ("+Inf", float(sum(counts)))]
