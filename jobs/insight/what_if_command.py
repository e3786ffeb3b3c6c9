"""`manage.py jobs what-if`: replay a window of the past in this process, without the bounds of the page."""

from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence

from jobs import store
from jobs.console.cli.screen import Column, Screen, count, length
from jobs.console.cli.subcommands import Argument, Options, Subcommand, argument
from jobs.console.operations.filters import MOMENTS
from jobs.insight import what_if, what_if_words
from jobs.insight.what_if import LIMITS, Question

MOST = 5_000_000  # attempts, for which a process needs some GB


def _waits(title: str, field: str, *, wide: bool = False) -> Iterator[Column]:
    """Yield the columns for the mean and the 95th percentile of a kind of waits; the JSON document has the median."""
    yield Column(title, lambda line: line[field] and length(line[field]["mean"]), right=True, wide=wide)
    yield Column(f"{title} P95", lambda line: line[field] and length(line[field]["p95"]), right=True, wide=True)


COLUMNS = [
    Column("TENANT", "tenant", flexible=True),
    Column("QUEUE", "queue", flexible=True),
    Column("ATTEMPTS", lambda line: count(line["attempts"]), right=True),
    Column("SLOT S", lambda line: count(round(line["slot_seconds"])), right=True, wide=True),
    *_waits("WAITED", "recorded", wide=True),
    *_waits("REPLAYED", "replayed"),
    *_waits("WOULD BE", "changed"),
    Column("DIFFERENCE", "difference", flexible=True),
]


def _limit(text: str) -> tuple[str, str, str]:
    subject, _, value = text.partition("=")
    name, _, limit = subject.rpartition(".")
    if not (name and limit and value):
        raise ArgumentTypeError(f"must be like acme.num_slots=10, not {text[:60]!r}")
    return name, limit, value


def _changes(kind: str, limits: Sequence[str]) -> Argument:
    return argument(
        f"--{kind.removesuffix('s')}",
        dest=kind,
        action="append",
        type=_limit,
        default=[],
        metavar="NAME.LIMIT=VALUE",
        help=f'Another limit from --since on: {", ".join(limits)}; "none": no limit. Repeatable.',
    )


ARGUMENTS = (
    argument("--since", metavar="TIME", help=f"{MOMENTS}. Default: an hour before --until."),
    argument("--until", metavar="TIME", help="Default: now."),
    *(_changes(kind, limits) for kind, limits in LIMITS.items()),
)


def run(options: Options, screen: Screen) -> None:
    changes = what_if.read((kind, *line) for kind in LIMITS for line in options[kind])
    question = Question.of(options["since"], options["until"], changes, now=store.database_now())
    document = what_if.answer_document(question, MOST)
    screen.document(document)
    screen.say(document["told"])
    screen.table(COLUMNS, document["lines"])
    for sentence in (document["accuracy"], what_if_words.RULE if changes else ""):
        if sentence:
            screen.say(sentence)
    for gap in document["unknown"]:
        screen.say(gap["told"])


WHAT_IF = Subcommand("what-if", "Replay a past period with other limits.", ARGUMENTS, run)
