"""A dispatch, as it runs behind the door: fold, then claim, pass after pass (jobs/engine/door/dispatch.py)."""

from dataclasses import dataclass
from operator import attrgetter

from jobs.allocation import order
from jobs.allocation.books import Books
from jobs.allocation.fold import fold
from jobs.allocation.state import Pool
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


@dataclass(frozen=True)
class WorkerSeats:
    """A worker of a light pool, for whose free seats a pass claims.

    capacity: its seats
    seats: those that are free
    """

    pool: Pool
    capacity: int
    seats: int

    def withholds(self) -> int:
        """Return how many free seats of its pool its pass leaves to other workers.

        While they have free ones, it takes its share of the pool's, rounded up.
        """
        free = self.pool.free
        if not free:
            return 0
        share = -(-free * self.capacity // self.pool.processes)
        return free - min(free, self.seats, max(2 * self.seats - free, share))


def make_pass(books: Books, now: float, *, borrow: bool = False, feeder: WorkerSeats | None = None) -> Pass:
    """Fold, then claim.

    borrow: lend the processes that no tenant could use within its own slots
    feeder: for whose seats the pass is made; another pass starts no job of a light pool
    """
    resting = list(books.resting)
    left = fold(books, now, borrow=borrow)
    light = [pool for pool in books.pools.values() if pool.light]
    for pool in light:
        pool.withheld = feeder.withholds() if feeder is not None and feeder.pool is pool else pool.free
    batch = order.JOBS_OF_A_PASS if feeder is None else max(order.JOBS_OF_A_PASS, feeder.seats)
    pools = {lane.queue.pool for lane in resting if is_open(lane.queue, now)}
    toured = tours(books, now, borrow=borrow, batch=batch)
    done = Pass(take(toured, borrow=borrow, batch=batch))
    done.uncounted = any(visit.passed_over for tour in toured for visit in tour.visits)
    done.more = write_down(books, toured, done, now) or left
    done.idle = any(map(_free, pools))
    for pool in light:
        pool.withheld = 0
    return done


def dispatch(books: Books, now: float) -> list[Taken]:
    """Make passes until there is nothing more to claim; return the jobs that they claimed.

    While all pools are full, arrivals alone cause no pass: they wait for the fold of a later dispatch. The workers of a
    light pool have one feeder here, whose passes claim at most JOBS_OF_A_FEEDER each.
    """
    if not (books.freed or books.changed or any(map(_free, books.pools.values()))):
        return []
    taken = _dispatch(books, now)
    for pool in books.pools.values():
        if pool.light and pool.free:
            taken += _dispatch(books, now, rung=pool)
    return taken


def _dispatch(books: Books, now: float, *, rung: Pool | None = None) -> list[Taken]:
    """Make passes until there is nothing more to claim.

    rung: the light pool whose feeder makes them
    """
    taken: list[Taken] = []
    borrow = False
    for _ in range(order.MAX_PASSES):
        feeder = None
        if rung is not None:
            feeder = WorkerSeats(rung, rung.processes, min(rung.free, order.JOBS_OF_A_FEEDER))
        done = make_pass(books, now, borrow=borrow, feeder=feeder)
        taken += done
        if done.uncounted:
            books.recount()
        elif done.more or (done and rung is not None and rung.free):  # it is rung again
            borrow = False
        elif done.idle and (done or not borrow):
            borrow = True
        else:
            break
    return taken
