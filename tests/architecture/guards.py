"""The guards of `jobs/sql`: lines that end in `-- guard` or `-- guard I<n>`, and the statements without one of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GUARD = re.compile(r"(?P<indent> *)(?P<code>\S.*?) *-- guard(?P<invariant> I\d+)?$")
WHERE_IT_STANDS = (
    (re.compile(r"AND .+"), ""),
    (re.compile(r"(|FROM .+ )WHERE .+"), r"\1WHERE true"),
    (re.compile(r"ON CONFLICT .+ DO NOTHING"), ""),
    (re.compile(r"SELECT .+"), "SELECT true"),
)


@dataclass(frozen=True)
class Guard:
    """A line that keeps a statement from doing harm. path: below the repository; line: from 1."""

    path: Path
    line: int
    code: str
    invariant: str  # "I3", or ""

    @property
    def statement(self) -> str:
        return self.path.stem

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}"


def guards(repository: Path) -> Iterator[Guard]:
    """Every guard, file by file."""
    for path in sorted((repository / "jobs" / "sql").glob("*.sql")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if found := GUARD.fullmatch(line):
                invariant = (found["invariant"] or "").strip()
                yield Guard(path.relative_to(repository), number, found["code"], invariant)


def without(text: str, guard: Guard) -> str:
    """The statement without that guard: another statement, which PostgreSQL accepts.

    Raises ValueError for a line of a kind that is not known here.
    """
    for shape, rest in WHERE_IT_STANDS:
        if found := shape.fullmatch(guard.code):
            lines = text.splitlines(keepends=True)
            lines[guard.line - 1] = f"{found.expand(rest)}\n"
            return "".join(lines)
    raise ValueError(f"{guard}: how is this guard removed? {guard.code}")
