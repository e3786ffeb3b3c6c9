"""Tell by a digest whether a picture shows its page as it is. Pure: no browser, no database.

The digest is of what makes the page look as it does: its templates with all that they include, the rules of the style
sheets for the classes in them, and the code that draws its charts. Comments, blanks and other pages do not count.
"""

import hashlib
import re
from pathlib import Path

from embedded import REPOSITORY

PAGES = {"job": "job", "overview": "overview", "tenants": "tenants"}  # picture: page, which has a folder of templates
DIGESTS = Path(__file__).with_name("shown.txt")  # of the pages when their pictures were taken
TEMPLATES = REPOSITORY / "jobs/templates"
STYLES = [REPOSITORY / "jobs/static/jobs/ops" / name for name in ("ops.css", "detail.css")]
CODE = [REPOSITORY / "jobs/console/ops/shared", REPOSITORY / "jobs/pages"]  # it has classes of the style sheet, too
DRAWN_BY = [CODE[0] / f"{name}.py" for name in ("ended_chart", "strips")]


def digests() -> dict[str, str]:
    """Return the digest of each page as it is now, by picture."""
    return {picture: _digest(page) for picture, page in PAGES.items()}


def taken() -> dict[str, str]:
    """Return the digest of each page as it was when its picture was taken, by picture."""
    lines = DIGESTS.read_text().splitlines()
    return dict(line.split() for line in lines)  # type: ignore[misc]


def note() -> None:
    """Note that the pictures show the pages as they are now."""
    DIGESTS.write_text("".join(f"{picture} {digest}\n" for picture, digest in sorted(digests().items())))


def templates(page: str) -> list[Path]:
    """Return the templates of a page's folder, and those that they include or extend."""
    found: set[Path] = set()
    more = set((TEMPLATES / "jobs/ops" / page).glob("*.html"))
    while more:
        found |= more
        named = {name for path in more for name in re.findall(r"[\"']([\w/]+\.html)[\"']", path.read_text())}
        more = {TEMPLATES / name for name in named if (TEMPLATES / name).exists()} - found
    return sorted(found)


def _digest(page: str) -> str:
    texts = [_plain(path) for path in [*templates(page), *DRAWN_BY]]
    code = [path.read_text() for folder in CODE for path in sorted(folder.glob("*.py"))]
    words = set(re.findall(r"[\w-]+", " ".join([*texts, *code])))
    style = "".join([path.read_text() for path in STYLES])
    return hashlib.sha256("\n".join([*texts, *rules_for(words, style)]).encode()).hexdigest()[:16]


def _plain(path: Path) -> str:
    return " ".join(re.sub(r"\{#.*?#\}", "", path.read_text()).split())


def rules_for(words: set[str], style: str) -> list[str]:
    """Return the rules of a style sheet, one a line, that concern a page with these words in its templates.

    The rules of other windows and of paper, at its end, are left out: no picture shows them.
    """
    lines = style.partition("\n@media")[0].splitlines()
    return [line for line in lines if any(_concerns(words, one) for one in line.partition("{")[0].split(","))]


def _concerns(words: set[str], selector: str) -> bool:
    """Return whether all classes and ids of a selector are among the words; those in brackets are choices."""
    return set(re.findall(r"[.#]([\w-]+)", re.sub(r"\([^()]*\)?", "", selector))) <= words
