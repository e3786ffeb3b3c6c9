"""The documentation as the tests read it: its pages, their blocks of code, their tables."""

import re
from pathlib import Path
from typing import NamedTuple

from embedded import REPOSITORY

PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"), *(REPOSITORY / "deploy").glob("*.md")])


class Block(NamedTuple):
    """A block of code: its language, its text, and the line it begins at."""

    language: str
    text: str
    line: int


def blocks(page: Path, *languages: str) -> list[Block]:
    """The blocks of these languages, in order."""
    text = page.read_text()
    matches = re.finditer(r"^ *```(\w+)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    all_of_them = [Block(match[1], match[2], text[: match.start()].count("\n") + 2) for match in matches]
    return [block for block in all_of_them if block.language in languages]


def prose(page: Path) -> str:
    """The text without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(page: Path, *columns: str) -> list[list[str]]:
    """The cells below the header with these columns."""
    header = re.escape("| " + " | ".join(columns) + " |")
    [body] = re.findall(rf"^{header}\n\|[ |-]+\|\n((?:\|.*\n)+)", page.read_text(), re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()]
