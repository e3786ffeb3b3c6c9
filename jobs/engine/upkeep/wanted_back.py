"""Find the bodies of a worker that are to give their slots back. Both kinds of workers look each second.

Only rows with a cursor are looked at: a body without checkpoints could not stop. So where none makes any, this costs
nothing.
"""

import uuid
from collections import Counter
from collections.abc import Sequence

from jobs import store
from jobs.calls import registry
from jobs.calls.refusals import InvalidRequest
from jobs.lifecycle import HandBack
from jobs.store import RunningHere, Stoppable

Attempt = tuple[int, int, int]  # its process, its job and its number


def wanted_back(worker: uuid.UUID, running: Sequence[RunningHere]) -> dict[Attempt, HandBack]:
    """Return the attempts that are asked for their slots, and why. Raises Django's errors.

    running: what runs in the worker, by its rows.
    """
    ids = [row.id for row in running if row.stops]
    if not ids:
        return {}
    stoppable = store.wanted_back(worker, ids)
    wanted = {(one.pid, one.id, one.attempt): HandBack(one.why) for one in stoppable if one.why is not None}
    return wanted | {(one.pid, one.id, one.attempt): HandBack.TURN for one in _over(stoppable)}


def _over(stoppable: Sequence[Stoppable]) -> list[Stoppable]:
    """Return those whose turn is over, the longest ones, for as many as wait and get no borrowed slot."""
    given = Counter(one.pool for one in stoppable if one.why == HandBack.BORROWED)
    over = []
    for one in sorted(stoppable, key=lambda one: -one.seconds):
        if one.why is None and given[one.pool] < one.others and _is_over(one):
            given[one.pool] += 1
            over.append(one)
    return over


def _is_over(one: Stoppable) -> bool:
    try:
        turn = registry.resolve(one.source_type, one.source_method, of_a_job=True).spec.turn
    except InvalidRequest:  # the code is newer than this worker
        return False
    return turn is not None and one.seconds >= turn
