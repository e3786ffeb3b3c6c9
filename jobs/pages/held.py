"""How often what is said of starts has held, for who is told one: read once a minute for all viewers of a process."""

from jobs.pages.cached import cached
from jobs.reading.health.looks import TIMEOUT, look_predictions
from jobs.reading.health.predictions import how_often
from jobs.reading.looking import looking
from jobs.reading.starts import Starts

SECONDS = 60.0


def how_often_held(said: Starts | None) -> str:
    """A sentence of the whole installation; empty where no two moments are said, or no outcome is known."""
    return sentence() if said and said.p90 else ""


@cached(SECONDS, before="")
def sentence() -> str:
    with looking(TIMEOUT):
        return how_often(look_predictions())
