"""The list in CONTRIBUTING.md of the files that a new limit changes, beside the files that know an old one."""

import re
from pathlib import Path

import pytest

from embedded import REPOSITORY

CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text()
[SECTION] = re.findall(r"^\*\*A limit that holds jobs back\*\*\n(.+?)^- tests:", CONTRIBUTING, re.MULTILINE | re.DOTALL)
NAMED = [Path(path) for path in re.findall(r"`((?:jobs|tenants|docs)/[\w./]+)`", SECTION)]


def knowing(names: str) -> set[Path]:
    """The files of the product and its pages that have one of these names."""
    files = [path for top in ("jobs", "tenants", "plumbing", "docs") for path in (REPOSITORY / top).rglob("*.*")]
    texts = (path for path in files if path.suffix in (".py", ".sql", ".html", ".md"))
    return {path.relative_to(REPOSITORY) for path in texts if re.search(rf"\b({names})\b", path.read_text())}


def test_the_list_names_each_file_that_knows_a_limit_of_tenants_and_no_other(subtests: pytest.Subtests) -> None:
    in_queues = {path for path in knowing("tenant_slots|queue_slots") if path.parts[0] != "docs"}
    files = {path for path in knowing("user_slots") | in_queues if path.parts[:2] != ("tenants", "migrations")}
    assert not {path for path in files if not any(path.is_relative_to(one) for one in NAMED)}
    files |= knowing("concurrency")
    for one in NAMED:
        with subtests.test(str(one)):
            assert any(path.is_relative_to(one) for path in files)
