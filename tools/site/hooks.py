"""What mkdocs calls: pages outside docs/ are put in, links and lists made the site's, and the reference generated."""

import os
import re
from pathlib import Path
from typing import Any

import django
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.pictures import diagrams
from embedded import REPOSITORY
from tools.site.links import OUTSIDE, relinked
from tools.site.lists import widened
from tools.site.navigation import navigation

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
django.setup()  # before the reference, which is made of the sources
from tools.site import reference  # noqa: E402

SOURCE = os.environ.get("DOCS_SOURCE_URL", "")  # of the repository's files: https://host/owner/name/blob/v1.2.3
INSIDE = {there: path for path, there in OUTSIDE.items()}
ELSEWHERE = re.compile(
    r'<(?:script|img|iframe|source)\b[^>]*\bsrc(?:set)?="https?:[^>]*>|<link\b[^>]*href="https?:[^>]*>'
)


def on_config(config: MkDocsConfig) -> None:
    config.nav = navigation()


def on_files(files: Files, config: MkDocsConfig) -> None:
    for path, there in OUTSIDE.items():
        files.append(File.generated(config, there, content=(REPOSITORY / path).read_text()))


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    there = Path(page.file.src_uri).as_posix()
    text = reference.filled(markdown)
    drawn = diagrams.BLOCK.sub(lambda block: _drawn(Path(there).stem, block), text)
    return widened(relinked(drawn, INSIDE.get(there, f"docs/{there}"), SOURCE))


def _drawn(page: str, block: re.Match[str]) -> str:
    """The picture of a diagram, if it has one."""
    picture = diagrams.picture(page)
    if not picture.exists():
        return block[0].replace("```mermaid", "```text")
    if diagrams.digest(block[1]) not in picture.read_text():
        raise PluginError(f"{picture} is older than the diagram of {page}: see docs/pictures/diagrams.py.")
    return f"[![The diagram that is described here](pictures/{page}.svg)](pictures/{page}.svg)"


def on_post_page(output: str, page: Page, **_: Any) -> None:
    """Nothing is loaded from elsewhere: it would tell who reads, and fail without the net."""
    if match := ELSEWHERE.search(output):
        raise PluginError(f"{page.file.src_uri} loads something from elsewhere: {match[0]}")
