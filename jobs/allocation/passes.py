"""A dispatch, as it runs behind the door: fold, then claim, pass after pass (jobs/engine/door/dispatch.py)."""

from operator import attrgetter

from jobs.allocation.books import Books
from jobs.allocation.fold import fold
from jobs.allocation.order import MAX_PASSES
from jobs.allocation.take import Taken, take
from jobs.allocation.walk import is_open, tours
from jobs.allocation.write_down import write_down

_free = attrgetter("free")


class Pass(list[Taken]):
    """The jobs that a pass claimed, in order.

    more: whether another pass may find room
    uncounted: whether users must be counted before the next pass
    idle: whether processes are left for tenants that hold all of their slots and may borrow
    """

    more = uncounted = idle = False


def make_pass(books: Books, now: float, *, borrow: bool = False) -> Pass:
    """Fold, then claim.

    borrow: lend the processes that no tenant could use within its own slots
    """
    resting = list(books.resting)
    left = fold(books, now, borrow=borrow)
    pools = {lane.queue.pool for lane in resting if is_open(lane.queue, now)}
    toured = tours(books, now, borrow=borrow)
    done = Pass(take(toured, borrow=borrow))
    done.uncounted = any(visit.passed_over for tour in toured for visit in tour.visits)
    done.more = write_down(books, toured, done, now) or left
    done.idle = any(map(_free, pools))
    return done


def dispatch(books: Books, now: float) -> list[Taken]:
    """Make passes until there is nothing more to claim; return the jobs that they claimed.

    While all pools are full, arrivals alone cause no pass: they wait for the fold of a later dispatch.
    """
    taken: list[Taken] = []
    if not (books.freed or books.changed or any(map(_free, books.pools.values()))):
        return taken
    borrow = False
    for _ in range(MAX_PASSES):
        done = make_pass(books, now, borrow=borrow)
        taken += done
        if done.uncounted:
            books.recount()
        elif done.more:
            borrow = False
        elif done.idle and (done or not borrow):
            borrow = True
        else:
            break
    return taken
