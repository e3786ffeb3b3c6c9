"""The statements, in folders named after the modules that run them: `statement("claim")`.

A statement has a file, `claiming/claim.sql`; the short ones of a folder share its `short.sql`, each below a line
`-- name: beat`. A line `-- include claim/lanes` inserts that file, from beside the statement or from this folder: a
chapter. Several statements may share a chapter, so that no formula exists twice. The line stays as the chapter's title.
`python -m jobs.sql claim` prints the whole statement.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

COMMENT = re.compile(r"\s*--.*$", re.MULTILINE)
MARGIN = re.compile(r"\n\s*")
INCLUDE = re.compile(r"^ *-- include (\S+)$", re.MULTILINE)
NAME = re.compile(r"^-- name: (\S+)\n", re.MULTILINE)
HERE = Path(__file__).parent


@cache
def statement(name: str) -> str:
    """Return the text of a statement, with this project's names of the tables. Raises KeyError if it does not exist.

    The text keeps only one comment: the name, for a reader of pg_stat_activity. The other comments would be sent with
    each execution.
    """
    from tenants.tenant_model import for_this_project  # late: `python -m jobs.sql` runs without Django

    bare = MARGIN.sub("\n", COMMENT.sub("", whole(name)))
    return for_this_project(f"-- {name}\n{bare.strip()}")


@cache
def files() -> dict[str, Path]:
    """Return the file of each statement, by its name."""
    paths = [path for path in sorted(HERE.glob("*/*.sql")) if path.parent.name != "shared"]
    return {name: path for path in paths for name in NAME.findall(path.read_text()) or [path.stem]}


def whole(name: str, read: Callable[[Path], str] = Path.read_text) -> str:
    """Return the text of a statement, with its header and its chapters. Raises KeyError if it does not exist."""
    path = files()[name]
    text = read(path)
    if path.stem != name:
        _, *blocks = NAME.split(text)  # the names and the texts in turn
        text = dict(zip(blocks[::2], blocks[1::2], strict=True))[name].rstrip() + "\n"
    return _with_chapters(path, text, read)


def _with_chapters(path: Path, text: str, read: Callable[[Path], str]) -> str:
    def chapter(found: re.Match[str]) -> str:
        beside, shared = path.parent / f"{found[1]}.sql", HERE / f"{found[1]}.sql"
        file = beside if beside.exists() else shared
        return f"{found[0]}\n{_with_chapters(file, read(file), read).rstrip()}"

    return INCLUDE.sub(chapter, text)
