"""The guards of `jobs/sql`: lines that end in `-- guard` or `-- guard I<n>`, and the statements without one of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jobs.sql import NAME, files
from jobs.sql import whole as with_chapters

GUARD = re.compile(r" *(?P<code>\S.*?) *-- guard(?P<invariant> I\d+)?$")
BEGIN = re.compile(r" *(AND|OR|WHERE|FROM|ON|SELECT)\b")
WHERE_IT_STANDS = (
    (re.compile(r"(AND|OR) .+"), ""),
    (re.compile(r"(|FROM .+ )WHERE .+"), r"\1WHERE true"),
    (re.compile(r"ON CONFLICT .+ DO NOTHING"), ""),
    (re.compile(r"SELECT .+"), "SELECT true"),
)


@dataclass(frozen=True)
class Guard:
    """What keeps a statement from doing harm. path: below the repository; first, line: its lines, from 1.

    statement: whose guard it is; a chapter goes by its own name, those of the claim by the claim's.
    """

    path: Path
    first: int
    line: int
    code: str
    invariant: str  # "I3", or ""
    statement: str

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}"


def guards(repository: Path) -> Iterator[Guard]:
    """Every guard, file by file."""
    for path in sorted((repository / "jobs" / "sql").rglob("*.sql")):
        lines = path.read_text(encoding="utf-8").splitlines()
        name = "claim" if path.parent.name == "claim" else path.stem
        for number, line in enumerate(lines, 1):
            if named := NAME.fullmatch(f"{line}\n"):
                name = named[1]
            if match := GUARD.fullmatch(line):
                above = range(number, 0, -1)
                first = next(n for n in above if BEGIN.match(lines[n - 1]) and _indent(lines[n - 1]) <= _indent(line))
                code = " ".join(part.strip() for part in [*lines[first - 1 : number - 1], match["code"]])
                invariant = (match["invariant"] or "").strip()
                yield Guard(path.relative_to(repository), first, number, code, invariant, name)


def _indent(line: str) -> int:
    """Of a line; a guard may have others inside it."""
    return len(line) - len(line.lstrip())


def whole(guard: Guard, repository: Path, text: str) -> str:
    """The statement of the guard, or the first with its chapter, with this text for the guard's file."""
    path = repository / guard.path
    files_read: set[Path] = set()

    def read(file: Path) -> str:
        files_read.add(file)
        return text if file == path else file.read_text(encoding="utf-8")

    if path in files().values():
        return with_chapters(guard.statement, read)
    statements = (with_chapters(name, read) for name in files())
    return next(statement for statement in statements if path in files_read)


def without(text: str, guard: Guard) -> str:
    """The statement without that guard: another statement, which PostgreSQL accepts.

    Raises ValueError for a line of a kind that is not known here.
    """
    for shape, rest in WHERE_IT_STANDS:
        if match := shape.fullmatch(guard.code):
            lines = text.splitlines(keepends=True)
            lines[guard.first - 1 : guard.line] = [f"{match.expand(rest)}\n"]
            return "".join(lines)
    raise ValueError(f"{guard}: how is this guard removed? {guard.code}")
