"""The documentation is true: its links lead somewhere, what it names exists, and its tables are the machine."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from docs.pictures.__main__ import LARGEST
from embedded import REPOSITORY
from jobs.authoring.decorator import Spec
from jobs.lifecycle import ARROWS
from jobs.models import WITNESSES
from jobs.sql import statement
from tests.pages import PAGES, anchors, blocks, prose, table
from tests.sql import sql, value
from tools.site.links import OUTSIDE
from tools.site.navigation import navigation

DOCS = REPOSITORY / "docs"
ARCHITECTURE = DOCS / "architecture.md"
# Words that a page may have. What no longer fits belongs on a page of its own.
MOST_WORDS = {"README.md": 1700, "CHANGELOG.md": 1100, "docs/jobs.md": 600, "docs/own-project.md": 5600}
MOST_WORDS |= {f"docs/{name}.md": 2600 for name in ("calls", "options", "recurring", "results", "processes")}
QUERIES = [block.text for page in PAGES for block in blocks(page, "sql") if "docs" in page.parts]


def test_every_link_within_the_repository_leads_somewhere(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(str(page.relative_to(REPOSITORY))):
            for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", prose(page)):
                name, _, anchor = target.partition("#")
                linked = (page.parent / name).resolve() if name else page
                assert linked.exists(), target
                assert not anchor or anchor in anchors(linked), target


def test_every_picture_that_is_shown_exists_with_words_for_those_who_do_not_see_it(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(str(page.relative_to(REPOSITORY))):
            for tag in re.findall(r"<(?:img|source)\b[^>]*>", prose(page)):
                picture = page.parent / re.search(r'src(?:set)?="([^"]+)"', tag)[1]
                assert picture.read_bytes().startswith(b"\x89PNG"), picture
                assert tag.startswith("<source") or re.search(r'alt="[^"]{20,}"', tag), tag


def test_every_picture_is_shown_and_light() -> None:
    shown = {
        (page.parent / found).resolve() for page in PAGES for found in re.findall(r'src(?:set)?="([^"]+)"', prose(page))
    }
    pictures = set((DOCS / "pictures").glob("*.png"))
    assert pictures == shown
    assert max(picture.stat().st_size for picture in pictures) <= LARGEST


def test_every_path_that_is_named_exists(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(str(page.relative_to(REPOSITORY))):
            folders = "deploy|docs|embedded|jobs|reports|scheduler_project|tenants|tests"
            for path in re.findall(rf"`((?:{folders})/[\w./-]*)(?:::\w+)?`", prose(page)):
                assert (REPOSITORY / path).exists(), path


def test_every_test_that_is_named_exists(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(str(page.relative_to(REPOSITORY))):
            for path, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page.read_text()):
                assert re.search(rf"def {name}\(", (REPOSITORY / path).read_text()), f"{path}::{name}"


def test_every_make_target_and_setting_that_is_named_exists(subtests: pytest.Subtests) -> None:
    targets = re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    homes = ("scheduler_project/settings.py", "jobs/conf.py", "tenants/conf.py", "deploy/.env.example")
    known = "".join((REPOSITORY / home).read_text() for home in homes)
    for page in PAGES:
        with subtests.test(str(page.relative_to(REPOSITORY))):
            assert set(re.findall(r"`(?:[A-Z_]+=\S+ )*make ([a-z]+)", page.read_text())) <= set(targets)
            for name in re.findall(r"`((?:JOBS|DB|WEB|WORKER)_[A-Z_]+)\b", page.read_text()):
                assert name in known, name


def test_every_page_is_listed_once_and_so_in_the_navigation_of_the_site() -> None:
    listed = list(_files(navigation()))
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert sorted(listed) == sorted(pages | set(OUTSIDE.values()))


def _files(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            [pages] = entry.values()
            yield from [pages] if isinstance(pages, str) else _files(pages)


def test_the_pages_that_all_read_are_short() -> None:
    words = {name: len((REPOSITORY / name).read_text().split()) for name in MOST_WORDS}
    assert {name: count for name, count in words.items() if count > MOST_WORDS[name]} == {}


def test_the_list_of_the_untried_alone_says_what_was_not_tried() -> None:
    """A page that cannot be vouched for links the list; decisions are of their day."""
    here = [page for page in PAGES if page != DOCS / "untried.md" and page.parent.name != "adr"]
    linked = re.compile(r"\[not tried\]\([^)\s]*untried\.md[^)]*\)")
    confessed = re.compile(
        r"(?<!is )not\s+tried|tried\s+n(?:one|either)|untested|e\s+have\s+not\s+(?:run|tried|tested)"
    )
    found = {page.name: confessed.findall(linked.sub("", page.read_text())) for page in here}
    assert {name: words for name, words in found.items() if words} == {}


def test_every_decision_is_listed() -> None:
    listed = re.findall(r"\]\(adr/([^)]+)\)", (DOCS / "README.md").read_text())
    assert listed == sorted(path.name for path in (DOCS / "adr").glob("*.md"))


def test_every_decision_says_why_what_and_at_which_price(subtests: pytest.Subtests) -> None:
    for page in (DOCS / "adr").glob("*.md"):
        with subtests.test(str(page.relative_to(REPOSITORY))):
            assert re.findall(r"^## (.+)$", page.read_text(), re.MULTILINE) == ["Context", "Decision", "Price"]


def test_every_option_of_job_is_listed_with_its_default() -> None:
    listed = {
        name.strip("`"): default for name, _, default in table(DOCS / "options.md", "option", "meaning", "default")
    }
    assert set(listed) == {field.name for field in fields(Spec)}
    for field in fields(Spec):
        if field.default not in (None, "", ()):
            told = listed[field.name].strip("`").replace('"', "")
            assert told == str(field.default).removesuffix(".0"), field.name


class TestArchitecture:
    def test_the_table_of_arrows_is_the_machine(self) -> None:
        told = {
            (verb, frozenset(sources.split(", ")) - {"-"}, None if target == "-" else target, fenced == "yes")
            for verb, sources, target, fenced, _ in table(ARCHITECTURE, "arrow", "from", "to", "fenced", "when")
        }
        assert told == {(arrow.verb, arrow.sources, arrow.target, arrow.fenced) for arrow in ARROWS}

    def test_the_picture_shows_all_arrows_but_those_the_text_names(self) -> None:
        drawn = re.findall(r"^    (\S+) --> (\S+): (.+)$", ARCHITECTURE.read_text(), re.MULTILINE)
        shown = {(verb, source, target) for source, target, verbs in drawn for verb in verbs.split(", ")}
        nowhere = "[*]"
        arrows = {
            (arrow.verb, source, arrow.target or nowhere) for arrow in ARROWS for source in arrow.sources or {nowhere}
        }
        assert shown <= arrows
        told = {"cancel", "lapse", "turn_away", "replace", "revive", "rejoin", "archive"}
        assert {verb for verb, *_ in arrows - shown} == told

    def test_the_table_of_statuses_names_their_witnesses(self) -> None:
        told = {status: witness for status, _, witness in table(ARCHITECTURE, "status", "meaning", "witness")}
        assert told == {status: f"`{column}`" for column, statuses in WITNESSES.items() for status in statuses}

    def test_the_walk_names_functions_that_exist_and_is_short(self) -> None:
        called = table(ARCHITECTURE, "stop", "file", "does", "statement")
        posted = table(ARCHITECTURE, "before, over HTTP", "file", "does") + called[1:]
        for walk in (called, posted):
            assert len(walk) <= 15
            assert len({file for _, file, *_ in walk}) <= 11
        for function, file, *_ in called + posted:
            source = (REPOSITORY / file.strip("`")).read_text()
            assert re.search(rf"^ *def {function.strip('`')}\(", source, re.MULTILINE), function
        assert [statement(cells[3].strip("`")) for cells in called if cells[3]]

    def test_each_invariant_names_tests_that_attack_it(self) -> None:
        told = [number for number, *_ in table(ARCHITECTURE, "no.", "invariant", "kept by")]
        attacked = re.findall(r"^- (I\d+):\n  - `tests/\S+::test_", ARCHITECTURE.read_text(), re.MULTILINE)
        assert told == attacked == [f"I{n}" for n in range(1, 11)]

    @pytest.mark.parametrize("page", [ARCHITECTURE, REPOSITORY / "CONTRIBUTING.md"], ids=lambda page: page.name)
    def test_no_cell_of_a_table_has_to_be_read_twice(self, page: Path) -> None:
        rows = [line for line in page.read_text().splitlines() if line.startswith("|")]
        assert not [cell for row in rows for cell in row.split("|") if len(cell) > 250]


def commands(page: Path) -> list[str]:
    """The `manage.py` commands in blocks of shell and between backticks, without comments."""
    typed = [line for block in blocks(page, "sh") for line in block.text.splitlines()]
    typed += re.findall(r"`(manage\.py [^`]+)`", prose(page))
    found = [re.search(r"manage\.py ([a-z][^#]*)", line.partition(" <<")[0]) for line in typed]
    return [match[1].strip() for match in found if match]


class TestOperations:
    """What an operator is told to type."""

    def test_every_command_is_understood(self, subtests: pytest.Subtests) -> None:
        for typed in sorted({typed for page in PAGES for typed in commands(page)}):
            with subtests.test(typed):
                name, *arguments = shlex.split(typed)
                app = get_commands()[name]
                command = app if isinstance(app, BaseCommand) else load_command_class(app, name)
                command.create_parser("manage.py", name).parse_args(arguments)

    def test_every_warning_is_explained(self) -> None:
        explained = " ".join(warnings for warnings, _ in table(DOCS / "reference/log.md", "warning", "meaning"))
        ours = (path for app in ("jobs", "scheduler_project") for path in (REPOSITORY / app).rglob("*.py"))
        source = "".join(path.read_text() for path in ours)
        assert set(re.findall(r"`([^`]+)`", explained)) == set(re.findall(r'notic(?:e|ed)\(\s*"([^"]+)"', source))

    @pytest.mark.django_db
    @pytest.mark.parametrize("statement", QUERIES)
    def test_every_query_runs_and_only_reads(self, statement: str) -> None:
        sql("SET TRANSACTION READ ONLY")
        sql(statement)

    @pytest.mark.django_db
    def test_the_query_for_the_leader_finds_who_holds_the_clocks_lock(self) -> None:
        [query] = [text for text in QUERIES if "jobs.clock" in text]
        [key] = re.findall(r"pg_try_advisory_lock(\(.*, 0\))", statement("lead"))
        pid = value(f"SELECT pg_backend_pid(), pg_advisory_xact_lock{key}")
        assert pid in {row[0] for row in sql(query)}
        assert not sql(query.replace("jobs.clock", "jobs.other"))
