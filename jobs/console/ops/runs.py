"""A run: something to do with many jobs, a part at each request. What is left is carried in a signed text, so that no
link can make an operator's browser continue what that operator has not confirmed.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from django.core import signing

from jobs.pages.typed import number

SALT, MAX_AGE = "ops.run", 3600  # seconds for which a run may continue


@dataclass(frozen=True)
class Run:
    """What was chosen, and how far it is.

    action: the name of its address. user: the operator. chosen: ids; or else `filters` that fit, in the words of the
    page, and nothing beyond `upto`. at: the moment of the choice. bulk: the UUID of its entries in the audit log.
    position: where the next step begins; None: at the start. total: jobs that were counted at the start; more: there
    were others. outcomes: jobs by what came of them.
    """

    action: str
    user: int
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
        """Of those that were counted."""
        return max(self.total - self.done, 0)

    def in_words(self) -> str:
        """The filters, for the audit log, as the pages take them: status:error tenant:acme"""
        return " ".join(value if name == "q" else f"{name}:{value}" for name, value in self.filters.items())

    def signed(self) -> str:
        return signing.dumps(asdict(self), salt=SALT, compress=True)


def signed_run(text: str, action: str, user: int) -> Run | None:
    """The run of this operator; None if the text is not of one, or is too old."""
    try:
        run = Run(**signing.loads(text, salt=SALT, max_age=MAX_AGE))
    except signing.BadSignature:
        return None
    return run if (run.action, run.user) == (action, user) else None


def ids(texts: Iterable[str]) -> list[int]:
    """The ids of a form in ascending order, without anything that is none."""
    return sorted({found for text in texts if (found := number(text)) is not None})
