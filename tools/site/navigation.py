"""The navigation of the site: the sections of docs/README.md, with the pages that they link in the first place."""

import posixpath
import re
from typing import Any

from embedded import REPOSITORY
from tools.site.links import on_site

DOCS = REPOSITORY / "docs"
LINK = re.compile(r"\[([^]]+)\]\(([^)#\s]+)\)")


def navigation() -> list[dict[str, Any]]:
    """Return the entries of mkdocs's `nav`; this page comes first."""
    sections = re.split(r"^## (.+)$", (DOCS / "README.md").read_text(), flags=re.MULTILINE)[1:]
    titles, texts = sections[::2], sections[1::2]
    return [{"Overview": "README.md"}, *({title: _pages(text)} for title, text in zip(titles, texts, strict=True))]


def _pages(text: str) -> list[Any]:
    """Return the pages that the first cells of a table, or the items of a list, link."""
    heads = re.findall(r"^(?:\|([^|]+)\||\d+\. (.+)$)", text, re.MULTILINE)
    return [_entry(words, target) for cell, item in heads for words, target in LINK.findall(cell or item)]


def _entry(words: str, target: str) -> Any:
    """Return a page, or the pages of a folder below the words of its link."""
    path = posixpath.normpath(posixpath.join("docs", target))
    if target.endswith("/"):
        return {words: sorted(str(page.relative_to(DOCS)) for page in (REPOSITORY / path).glob("*.md"))}
    return on_site(path)
