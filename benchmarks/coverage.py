"""Part of the row coverage: tenants submit a mix of jobs to real workers, and a recorder says when they start.

Twelve tenants of Zipf sizes; log-normal and bimodal run times, bursts, priorities, a limit per user, a rate limit. The
bench has a recorder of its own beside the worker's, which samples more.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event, Thread

from django.db import connection

from benchmarks import stage
from benchmarks.contenders.ours import Ours
from jobs import submit_many
from jobs.insight.forecasts.duty import Forecasting
from tenants.models import TenantQueue

TENANTS, PROCESSES, ZIPF = 12, 8, 1.1
MEAN, LONGEST, BIMODAL = 0.6, 6.0, (0.2, 0.2, 0.2, 1.8)  # seconds of a body
LIMITS = {
    0: {"num_slots": 6, "weight": 2},
    1: {"user_slots": 1},
    2: {"rate_limit": 20, "rate_window": 20.0},
    4: {"num_slots": 2},
}
BURST = 12  # jobs at once, at most
EVERY, A_MINUTE = 5.0, 120.0  # seconds between forecasts, and statements that are noted
MARGIN = 0.1  # of a run: its first statements are not counted; as long afterwards, who has not started missed

PREDICTIONS, UNSAID = "predictions", "unsaid, part"
RAW_HALF, RAW_MOST = "raw p50 covers", "raw p90 covers"
HALF, MOST = "p50 covers", "p90 covers"
SAID, SAYS = "p90 covers where it is said", "p90 is said, part"
LOSS_HALF, LOSS_MOST = "loss of p50, s", "loss of p90, s"
AHEAD_HALF, AHEAD_MOST = "loss of p50 by jobs ahead, s", "loss of p90 by jobs ahead, s"
PAST_HALF, PAST_MOST = "loss of p50 by last waits, s", "loss of p90 by last waits, s"
WAITED = "mean wait of those, s"

COUNTED = """
WITH said AS (
    SELECT p.*, coalesce(started, 1e9) AS took, raw_90 < 'Infinity' AS finite
    FROM predictions p
    WHERE made_at BETWEEN to_timestamp(%(begins)s) AND to_timestamp(%(ends)s) AND (NOT void OR raw_90 = 'Infinity')
      AND (started IS NOT NULL OR raw_90 = 'Infinity' OR said_90 < extract(epoch FROM to_timestamp(%(over)s) - made_at))
)
SELECT
    count(*), avg((NOT finite)::int),
    avg((took <= raw_50)::int) FILTER (WHERE finite), avg((took <= raw_90)::int) FILTER (WHERE finite),
    avg((took <= said_50)::int) FILTER (WHERE finite), avg((took <= said_90)::int) FILTER (WHERE finite),
    avg((took <= said_90)::int) FILTER (WHERE reason = ''), avg((reason = '')::int),
    avg(greatest(0.5 * (started - said_50), 0.5 * (said_50 - started))),
    avg(greatest(0.9 * (started - said_90), 0.1 * (said_90 - started))),
    avg(greatest(0.5 * (started - ahead_50), 0.5 * (ahead_50 - started))),
    avg(greatest(0.9 * (started - ahead_90), 0.1 * (ahead_90 - started))),
    avg(greatest(0.5 * (started - past_50), 0.5 * (past_50 - started))),
    avg(greatest(0.9 * (started - past_90), 0.1 * (past_90 - started))),
    avg(started)
FROM said"""
FIGURES = (
    *(PREDICTIONS, UNSAID, RAW_HALF, RAW_MOST, HALF, MOST, SAID, SAYS, LOSS_HALF, LOSS_MOST),
    *(AHEAD_HALF, AHEAD_MOST, PAST_HALF, PAST_MOST, WAITED),
)


@dataclass(frozen=True)
class Burst:
    """at: seconds after the begin. bodies: seconds of each. user, priority: of all."""

    at: float
    tenant: int
    bodies: list[float]
    user: str
    priority: int


def measure(directory: Path, name: str, seconds: float, load: tuple[float, float]) -> dict[str, float]:
    """load: of the processes, at the begin and at the end."""
    ours = Ours()
    ours.prepare(tenants=TENANTS, slots=4)
    _limit(ours)
    bursts = list(mix(Random(7), seconds, load))  # noqa: S311 - the same in every run
    over = Event()
    forecasting = Thread(target=_forecast, args=(over,), daemon=True)  # a row that failed ends without it
    with stage.playing(directory, f"{ours.name}-{name}", ours.worker(PROCESSES)):
        begins = time.time()
        forecasting.start()
        for burst in bursts:
            time.sleep(max(begins + burst.at - time.time(), 0.0))
            call = ours.things[burst.tenant].async_(user=burst.user or None, priority=burst.priority, dedup=False)
            submit_many(call.rest.request(n, seconds=body) for n, body in enumerate(burst.bodies))
        ends = time.time()
        time.sleep(MARGIN * seconds)
        over.set()
        forecasting.join()
    window = {"begins": begins + MARGIN * seconds, "ends": ends, "over": time.time()}
    with connection.cursor() as cursor:
        cursor.execute(COUNTED, window)
        return {what: float(value or 0.0) for what, value in zip(FIGURES, cursor.fetchone(), strict=True)}


def mix(random: Random, seconds: float, load: tuple[float, float]) -> Iterator[Burst]:
    """Who submits when; the load grows evenly."""
    sizes = [(rank + 1) ** -ZIPF for rank in range(TENANTS)]
    now = 0.0
    while True:
        at_now = load[0] + (load[1] - load[0]) * now / seconds
        size = random.choice((1, 1, 1, 1, random.randint(1, BURST)))
        now += random.expovariate(1.0) * size * MEAN / (PROCESSES * at_now)
        if now >= seconds:
            return
        (tenant,) = random.choices(range(TENANTS), sizes)
        user, priority = random.choice(("ada", "bob", "")), random.choice((1, 9, *[5] * 18))
        yield Burst(now, tenant, [_body(random, tenant) for _ in range(size)], user, priority)


def _body(random: Random, tenant: int) -> float:
    """Of three tenants in four log-normal, of the others bimodal; the same mean, but for the longest."""
    if tenant % len(BIMODAL) == 0:
        return random.choice(BIMODAL)
    return min(random.lognormvariate(-0.83, 0.8), LONGEST)


def _limit(ours: Ours) -> None:
    for place, changed in LIMITS.items():
        TenantQueue.objects.filter(tenant=ours.tenants[place]).update(**changed)


def _forecast(over: Event) -> None:
    recorder = Forecasting(Random(3), A_MINUTE)  # noqa: S311
    while not over.wait(EVERY):
        recorder.run()
    recorder.run()
    connection.close()
