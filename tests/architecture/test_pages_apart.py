"""The folders of the operators' pages: a page has its Python and its templates in two folders of one name."""

import re
from pathlib import Path

from embedded import REPOSITORY

PAGES = REPOSITORY / "jobs" / "console" / "ops"
TEMPLATES = REPOSITORY / "jobs" / "templates" / "jobs" / "ops"
SHARED = "shared"  # what several pages use
IMPORTED = re.compile(r"from jobs\.console\.ops(?:\.| import )(\w+)|import jobs\.console\.ops\.(\w+)")
NAMED = re.compile(r"jobs/ops/(\w+)/[\w/]+\.html")


def folders(below: Path) -> set[str]:
    return {path.name for path in below.iterdir() if path.is_dir() and path.name != "__pycache__"}


def strangers(below: Path, suffix: str, pattern: re.Pattern[str]) -> list[str]:
    """Return the files that name another page than their own, each with the name."""
    return [
        f"{path.relative_to(below)}: {name}"
        for path in sorted(below.glob(f"*/**/*{suffix}"))
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
        if (name := next(filter(None, match.groups()))) not in (SHARED, path.relative_to(below).parts[0])
    ]


def test_a_page_imports_no_other_page():
    assert strangers(PAGES, ".py", IMPORTED) == []


def test_a_template_includes_none_of_another_page():
    assert strangers(TEMPLATES, ".html", NAMED) == []


def test_a_page_has_a_view_and_templates_in_folders_of_its_name():
    assert folders(PAGES) == folders(TEMPLATES)
    assert {page for page in folders(PAGES) - {SHARED} if not (PAGES / page / "view.py").exists()} == set()
