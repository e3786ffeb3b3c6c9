"""A run: a verb that is applied to many jobs, a step at each request.

The browser carries the state of the run as a signed text. So no link can make it continue a run that its operator has
not confirmed.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from django.core import signing

from jobs.pages.typed import number

SALT, MAX_AGE = "ops.run.3", 3600  # 3: the version of the fields of Run; seconds for which a run may continue


@dataclass(frozen=True)
class Run:
    """The jobs that an operator chose, and how far the run is.

    action: the name of its address
    user: the primary key of the operator, as a text
    back: the address of the page that asked
    at: the moment of the choice
    bulk: the UUID of its entries in the audit log
    chosen: the ids of the jobs; without ids all that match `filters`
    filters: the filters in the words of the page
    upto: the last job that the page showed; later ones are left out
    position: where the next step begins; None before the first step
    total: the jobs that were counted at the start
    more: whether there were others
    outcomes: the number of jobs by outcome
    """

    action: str
    user: str
    back: str
    at: str
    bulk: str
    chosen: list[int] = field(default_factory=list)
    filters: dict[str, str] = field(default_factory=dict)
    upto: str = ""
    position: str | None = None
    total: int = 0
    more: bool = False
    outcomes: dict[str, int] = field(default_factory=dict)

    @property
    def done(self) -> int:
        return sum(self.outcomes.values())

    @property
    def left(self) -> int:
        """Return how many of the counted jobs are left."""
        return max(self.total - self.done, 0)

    def in_words(self) -> str:
        """Return the filters for the audit log, as the pages take them: status:error tenant:acme"""
        return " ".join(value if name == "q" else f"{name}:{value}" for name, value in self.filters.items())

    def signed(self) -> str:
        return signing.dumps(asdict(self), salt=SALT, compress=True)


def signed_run(text: str, action: str, user: str) -> Run | None:
    """Return the run of this operator and action; None if the text is of no such run, or is too old."""
    try:
        run = Run(**signing.loads(text, salt=SALT, max_age=MAX_AGE))
    except signing.BadSignature:
        return None
    return run if (run.action, run.user) == (action, user) else None


def ids(texts: Iterable[str]) -> list[int]:
    """Return the ids of a form in ascending order, without texts that are no ids."""
    return sorted({pk for text in texts if (pk := number(text)) is not None})
