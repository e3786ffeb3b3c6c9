"""The statements, one per file: `statement("claim")` is the text of claim.sql.

A line `-- include claim/lanes` stands for the file claim/lanes.sql: a chapter, which several statements may share, so
that no formula stands twice. The line stays, as the chapter's title; `python -m jobs.sql claim` prints the whole.
"""

import re
from functools import cache
from pathlib import Path

INCLUDE = re.compile(r"^ *-- include (\S+)$", re.MULTILINE)
HERE = Path(__file__).parent


@cache
def statement(name: str) -> str:
    text = (HERE / f"{name}.sql").read_text(encoding="utf-8")
    return INCLUDE.sub(lambda found: f"{found[0]}\n{statement(found[1]).rstrip()}", text)
