"""The page of a runbook: what to do about a condition. Health links to it where no site has the documentation."""

from functools import cache
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

import jobs
from jobs.console.ops.shared import live
from jobs.console.ops.shared.access import page_for

PACKAGE = Path(jobs.__file__).parent
FOLDERS = (PACKAGE / "runbooks", PACKAGE.parent / "docs" / "runbooks")  # of the wheel, and of a clone


@page_for("jobs.view_worker")
def show(request: HttpRequest, name: str) -> HttpResponse:
    runbook = next((page for folder in FOLDERS if (page := folder / f"{name}.md").is_file()), None)
    if runbook is None:
        raise Http404(f"There is no runbook {name}.")
    return live.page(request, "runbook", f"Runbook {name}", (), {"text": rendered(runbook)}, every=0)


@cache  # of the few files of this release
def rendered(runbook: Path) -> SafeString:
    """Return a runbook as HTML. Its links to other runbooks lead to their pages; other pages are not here."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(runbook.read_text(encoding="utf-8"))
    for inline in tokens:
        inline.children = _here(inline.children or [])
    html: str = reader.renderer.render(tokens, reader.options, {})
    return mark_safe(html)  # noqa: S308 - of our own files, without HTML


def _here(tokens: list[Token]) -> list[Token]:
    """Return the tokens of a line with addresses of this site, and without links to pages that are not here."""
    kept, opened = [], True
    for token in tokens:
        if token.type == "link_open":
            page = Path(str(token.attrGet("href")).partition("#")[0])
            opened = str(token.attrGet("href")).startswith("https://") or _is_runbook(page)
            if _is_runbook(page):
                token.attrSet("href", reverse("jobs_ops:runbook", args=[page.stem]))
        if opened or token.type not in ("link_open", "link_close"):
            kept.append(token)
        if token.type == "link_close":
            opened = True
    return kept


def _is_runbook(page: Path) -> bool:
    return page.suffix == ".md" and str(page.parent) == "."
