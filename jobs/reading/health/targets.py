"""Tell of wait targets that are missed so often that the month's budget is soon used up: two windows for each speed.

The method is the sixth approach of "Alerting on SLOs" in Google's Site Reliability Workbook
(https://sre.google/workbook/alerting-on-slos/). The *burn rate* is the share of misses divided by the share that the
objective allows: at 1, the budget lasts for exactly 30 days. The long window sees that much was burnt; the short one
sees that it still burns, so the condition ends soon after its cause. The numbers are the workbook's: 14.4 burns 2 % of
the budget in an hour, 6 burns 5 % in six hours.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from jobs.conf import settings
from jobs.reading.health.facts import Facts
from jobs.reading.health.fault import Fault
from jobs.reading.statistics import Kept

MIN_TARGETED = 50  # attempts of the long window below which no share is judged


@dataclass(frozen=True)
class BurnRule:
    """The condition holds if both windows burn faster than `rate`.

    long, short: minutes, of target_look.WINDOWS.
    """

    long: int
    short: int
    rate: float
    period: str


BURNS = (BurnRule(60, 5, 14.4, "hour"), BurnRule(360, 30, 6.0, "six hours"))


def targets_missed(facts: Facts) -> Iterator[Fault]:
    """Yield a fault for each queue that burns its budget too fast, by the first rule that finds it."""
    allowed = 1.0 - settings.JOBS_WAIT_OBJECTIVE
    pools = {queue.name: frozenset({queue.pool}) for queue in facts.queues.values()}
    for look in facts.targets:
        for burn in BURNS:
            long, short = look.kept.get(burn.long, Kept(0, 0)), look.kept.get(burn.short, Kept(0, 0))
            if long.targeted >= MIN_TARGETED and min(long.missed_share, short.missed_share) > burn.rate * allowed:
                missed = f"{long.targeted - long.in_time:,} of {long.targeted:,} attempts of the last {burn.period}"
                late = f"waited for a process for more than its target of {look.seconds:.15g} s"
                text = f"Queue {look.queue}: {missed} {late}; the objective allows {100 * allowed:.3g} %."
                yield Fault(text, look.queue, pools.get(look.queue))
                break
