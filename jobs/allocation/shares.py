"""Divide a capacity fairly among several demands."""

from collections.abc import Sequence


def entitlement(capacity: float, wishes: Sequence[tuple[float, float]]) -> list[float]:
    """Return the weighted max-min fair share of each (demand, weight).

    No share is above its demand. No share can grow without taking from one that is as small or smaller for its weight.

    By progressive filling: Bertsekas and Gallager, Data Networks, 2nd edition 1992, section 6.5.2. The least demands
    for their weight are filled first; the others share what these leave.
    """
    shares, rest, weights = [0.0] * len(wishes), capacity, sum(weight for _, weight in wishes)
    for place in sorted(range(len(wishes)), key=lambda place: wishes[place][0] / wishes[place][1]):
        demand, weight = wishes[place]
        shares[place] = max(min(demand, rest * weight / weights), 0.0)
        rest, weights = rest - shares[place], weights - weight
    return shares
