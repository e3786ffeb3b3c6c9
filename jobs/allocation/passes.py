"""A dispatch, as the door makes it: fold, then claim, pass after pass (jobs/engine/dispatch.py)."""

from jobs.allocation.books import Books
from jobs.allocation.fold import fold
from jobs.allocation.take import Taken, take
from jobs.allocation.walk import tours
from jobs.allocation.write_down import write_down

MAX_PASSES = 200


class Pass(list[Taken]):
    """What a pass claimed, in order. more: whether another one may find room. uncounted: users must be counted."""

    more = False
    uncounted = False


def make_pass(books: Books, now: float) -> Pass:
    """Fold and claim."""
    left = fold(books, now)
    toured = tours(books, now)
    done = Pass(take(toured))
    done.uncounted = any(visit.passed_over for tour in toured for visit in tour.visits)
    done.more = write_down(books, toured, done, now) or left
    return done


def dispatch(books: Books, now: float) -> list[Taken]:
    """Pass after pass, until there is nothing more to claim."""
    taken: list[Taken] = []
    for _ in range(MAX_PASSES):
        done = make_pass(books, now)
        taken += done
        if done.uncounted:
            books.recount()
        elif not done.more:
            break
    return taken
