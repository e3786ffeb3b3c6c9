"""light_shares: seconds in seats of tenants that always have jobs waiting, and the most bodies of a tenant at once.

Forty tenants with five slots each share 100 seats. Their backlogs are after Zipf, and their bodies wait for 0.1 s to
2 s. Both figures are as the bodies tell them. With THOROUGH a fifth of the tenants limit their users, and a fifth have
a rate that lets them start half of their share; Jain's index leaves these out.
"""

import random
from collections import defaultdict
from pathlib import Path

from benchmarks import THOROUGH, bells, mix, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
from benchmarks.rows.fairness import JAIN, ZIPF
from jobs import submit_many
from tenants.models import TenantQueue
from tests.waiting import wait_until

TENANTS, SLOTS, SEATS, PROCESSES = 40, 5, 50, 2
WARM, WINDOW = 2.0, 20.0  # seconds
SHORTEST, LONGEST = 0.1, 2.0  # seconds of a body
ZIPFS = 15_000  # jobs, shared after Zipf
PLENTY = 2  # the least backlog of a tenant, as a multiple of its fair share

FEWER = 0.5  # of its fair share, which the rate of a tenant lets start
RATE_WINDOW = 4.0  # seconds

BUSY, MOST = "seats busy with bodies", "most bodies of a tenant / slots"
MOST_OF_USER, STARTS = "most bodies of a user / slots", "starts of a tenant / its rate"

BARS = [
    Bar(of=(JAIN, "ours"), at_least=0.985, goal=0.995),
    Bar(of=(MOST, "ours"), at_most=1),
    *([Bar(of=(what, "ours"), at_most=1) for what in (MOST_OF_USER, STARTS)] if THOROUGH else []),
]


def measure(directory: Path) -> Figures:
    """The figures of one window."""
    side = Light(TENANTS, SLOTS, SEATS)
    side.prepare()
    rates: dict[int, int] = {}  # by tenant: starts in RATE_WINDOW
    for place, (seconds, count) in enumerate(_backlogs()):
        tenant, thing = side.tenants[place], side.things[place]
        if side.mixed and mix.has_rate(place):
            rates[tenant.pk] = max(int(FEWER * SEATS * PROCESSES / TENANTS * RATE_WINDOW / seconds), 1)
            limits = {"rate_limit": rates[tenant.pk], "rate_window": RATE_WINDOW}
            TenantQueue.objects.filter(tenant=tenant).update(**limits)
        submit_many(side.request(thing, "arest", n, turn=n, seconds=seconds) for n in range(count))
    bells.forget()
    with stage.crew(directory, side.workers(PROCESSES)):
        bells.wait(1)
        begin = bells.heard()[0].moment + WARM
        end = begin + WINDOW
        wait_until(lambda: bells.heard()[-1].moment > end, "the window ends", WARM + WINDOW + 30)
    seconds_of = bells.seconds_in_bodies(begin, end)
    equals = [seconds_of[tenant.pk] for tenant in side.tenants if tenant.pk not in rates]
    figures = {
        JAIN: sum(equals) ** 2 / (len(equals) * sum(second**2 for second in equals)),
        BUSY: seconds_of.total() / (SEATS * PROCESSES * WINDOW),
        MOST: bells.most_at_once(lambda tenant, _: tenant) / SLOTS,
    }
    if side.mixed:
        figures |= {MOST_OF_USER: _most_of_a_user(side), STARTS: _most_of_a_rate(rates)}
    return {what: {"ours": value} for what, value in figures.items()}


def _most_of_a_user(side: Light) -> float:
    """The most bodies at once of a user whose tenant limits its users, by the limit."""
    limiting = {tenant.pk for place, tenant in enumerate(side.tenants) if mix.limits_users(place)}
    most = bells.most_at_once(lambda tenant, n: (tenant, mix.user(n)) if tenant in limiting else None)
    return most / mix.user_slots(SLOTS)


def _most_of_a_rate(rates: dict[int, int]) -> float:
    """The bodies that have begun since the first, by the starts that the rate allows: the highest of all tenants.

    Attempts that fail, which the bodies do not tell, spend the rate, too: the twentieth part of it.
    """
    begun: defaultdict[int, list[float]] = defaultdict(list)
    for moment, (event, tenant, _) in bells.heard():
        if event == "begin":
            begun[int(tenant)].append(moment)
    return max(
        len(begun[tenant]) / rate / (1 + (max(begun[tenant]) - min(begun[tenant])) / RATE_WINDOW)
        for tenant, rate in rates.items()
    )


def _backlogs() -> list[tuple[float, int]]:
    """Seconds of a body and jobs waiting, tenant by tenant."""
    run_times = [SHORTEST * (LONGEST / SHORTEST) ** (n / (TENANTS - 1)) for n in range(TENANTS)]
    random.Random(1).shuffle(run_times)  # noqa: S311 - the same in every run
    parts = [(rank + 1) ** -ZIPF for rank in range(TENANTS)]
    share = SEATS * PROCESSES * (WARM + WINDOW) / TENANTS
    return [
        (seconds, max(int(ZIPFS * part / sum(parts)), int(PLENTY * share / seconds)))
        for seconds, part in zip(run_times, parts, strict=True)
    ]
