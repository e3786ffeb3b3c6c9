"""What each of several could get of some capacity, if it is shared fairly."""

from collections.abc import Sequence


def entitlement(capacity: float, wishes: Sequence[tuple[float, float]]) -> list[float]:
    """The weighted max-min fair share of each (demand, weight): nobody gets more than its demand, and nobody could get
    more without taking it from one that has less by its weight.

    By progressive filling: Bertsekas and Gallager, Data Networks, 2nd edition 1992, section 6.5.2. Those that ask for
    the least by their weight are filled first; what they leave is shared by the others.
    """
    shares, rest, weights = [0.0] * len(wishes), capacity, sum(weight for _, weight in wishes)
    for place in sorted(range(len(wishes)), key=lambda place: wishes[place][0] / wishes[place][1]):
        demand, weight = wishes[place]
        shares[place] = max(min(demand, rest * weight / weights), 0.0)
        rest, weights = rest - shares[place], weights - weight
    return shares
