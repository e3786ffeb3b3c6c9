"""The documentation is true: its links lead somewhere, its names exist, its table is the machine, its guide runs."""

import doctest
import io
import json
import re
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import connection
from django.test import Client

from embedded import REPOSITORY
from jobs import clock, reads, registry, signals
from jobs.engine.execute import execute
from jobs.lifecycle import ARROWS
from jobs.models import WITNESSES, Queue
from tests.factories import QueueFactory, TenantFactory

PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"), *(REPOSITORY / "deploy").glob("*.md")])
ARCHITECTURE = (REPOSITORY / "docs/architecture.md").read_text()
GUIDE = (REPOSITORY / "docs/jobs.md").read_text()
OPERATIONS = (REPOSITORY / "docs/operations.md").read_text()
QUERIES = re.findall(r"^```sql\n(.*?)^```$", OPERATIONS, re.MULTILINE | re.DOTALL)
EVERY_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))


def prose(page: Path) -> str:
    """The text without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def tables(text: str, *columns: str) -> list[list[str]]:
    """The cells below the header with these columns."""
    header = re.escape("| " + " | ".join(columns) + " |")
    [found] = re.findall(rf"^{header}\n\|[ |-]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found.splitlines()]


@EVERY_PAGE
def test_every_link_within_the_repository_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", prose(page)):
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


@EVERY_PAGE
def test_every_path_that_is_named_exists(page: Path) -> None:
    folders = "deploy|docs|embedded|jobs|reports|scheduler_project|tenants|tests"
    for path in re.findall(rf"`((?:{folders})/[\w./-]*)(?:::\w+)?`", prose(page)):
        assert (REPOSITORY / path).exists(), path


@EVERY_PAGE
def test_every_test_that_is_named_exists(page: Path) -> None:
    for path, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page.read_text()):
        assert re.search(rf"def {name}\(", (REPOSITORY / path).read_text()), f"{path}::{name}"


@EVERY_PAGE
def test_every_make_target_and_setting_that_is_named_exists(page: Path) -> None:
    targets = re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"`(?:[A-Z_]+=\S+ )*make ([a-z]+)", page.read_text())) <= set(targets)
    settings = (REPOSITORY / "scheduler_project/settings.py").read_text()
    for name in re.findall(r"`((?:JOBS|DB|WORKER)_[A-Z_]+)\b", page.read_text()):
        assert name in settings or name in (REPOSITORY / "deploy/.env.example").read_text(), name


def test_every_decision_is_listed() -> None:
    listed = re.findall(r"\]\(adr/([^)]+)\)", (REPOSITORY / "docs/README.md").read_text())
    assert listed == sorted(path.name for path in (REPOSITORY / "docs/adr").glob("*.md"))


@pytest.mark.parametrize("page", sorted((REPOSITORY / "docs/adr").glob("*.md")), ids=lambda page: page.stem)
def test_every_decision_says_why_what_and_at_which_price(page: Path) -> None:
    assert re.findall(r"^## (.+)$", page.read_text(), re.MULTILINE) == ["Context", "Decision", "Price"]


def test_the_table_of_arrows_is_the_machine() -> None:
    told = {
        (verb, frozenset(sources.split(", ")), target, fenced == "yes")
        for verb, sources, target, fenced, _ in tables(ARCHITECTURE, "arrow", "from", "to", "fenced", "when")
    }
    assert told == {(arrow.verb, arrow.sources, arrow.target, arrow.fenced) for arrow in ARROWS}


def test_the_picture_of_the_machine_shows_its_arrows() -> None:
    drawn = re.findall(r"^    (\w+) --> (\w+): (.+)$", ARCHITECTURE, re.MULTILINE)
    shown = {(verb, source, target) for source, target, verbs in drawn for verb in verbs.split(", ")}
    arrows = {(arrow.verb, source, arrow.target) for arrow in ARROWS for source in arrow.sources}
    assert shown <= arrows
    assert {verb for verb, *_ in arrows - shown} == {"cancel", "revive"}  # as the text below it says


def test_the_table_of_statuses_names_their_witnesses() -> None:
    told = {status: witness for status, _, witness in tables(ARCHITECTURE, "status", "meaning", "witness")}
    assert told == {status: f"`{column}`" for column, statuses in WITNESSES.items() for status in statuses}


def test_each_invariant_has_tests_that_attack_it() -> None:
    invariants = tables(ARCHITECTURE, "no.", "invariant", "kept by", "attacked by")
    assert [number for number, *_ in invariants] == [f"I{n}" for n in range(1, 11)]
    assert all("::test_" in tests or "not built yet" in kept for _, _, kept, tests in invariants)


class TestOperations:
    """What an operator is told to type."""

    @pytest.mark.django_db
    @pytest.mark.parametrize("statement", QUERIES, ids=lambda text: text.split(" AS ")[0].replace("\n", " ")[:40])
    def test_every_query_runs_and_only_reads(self, statement: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(statement)

    @pytest.mark.django_db
    def test_the_query_for_the_leader_finds_who_holds_the_clocks_lock(self) -> None:
        [query] = [text for text in QUERIES if "jobs.clock" in text]
        [take] = re.findall(r"pg_try_advisory_lock\(.*?\)\)?, 0\)", Path(clock.__file__).read_text())
        with connection.cursor() as cursor:
            cursor.execute(query)
            others = cursor.fetchall()
            cursor.execute(
                f"SELECT pg_backend_pid(), {take.replace('pg_try_advisory_lock', 'pg_try_advisory_xact_lock')}"
            )
            pid, taken = cursor.fetchone()
            assert taken
            cursor.execute(query)
            assert {row[0] for row in cursor.fetchall()} - {row[0] for row in others} == {pid}


# --- the guide ----------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """A block of code: its language, its text, and the line it begins at."""

    language: str
    text: str
    line: int


def blocks(text: str) -> list[Block]:
    found = re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(match[1], match[2], text[: match.start()].count("\n") + 2) for match in found]


@pytest.fixture
def reader(transactional_db: None) -> Iterator[dict[str, Any]]:
    """The names that the guide's reader has; the model it declares is in the app `reports`, and gone afterwards."""
    QueueFactory(name="default")
    QueueFactory(name="mail")
    cache.clear()
    names = {
        "__name__": "reports.guide",
        "tenant": TenantFactory(queue__num_slots=50),
        "reads": reads,
        "Queue": Queue,
    }
    receivers = list(signals.job_died.receivers)
    yield names
    signals.job_died.receivers = receivers
    signals.job_died.sender_receivers_cache.clear()
    model = apps.all_models["reports"].pop("letter")
    with connection.schema_editor() as editor:
        editor.delete_model(model)
    apps.clear_cache()
    registry.source_types.cache_clear()


def declare(block: Block, names: dict[str, Any]) -> None:
    exec(compile(block.text, f"docs/jobs.md:{block.line}", "exec"), names)
    model = apps.all_models["reports"].get("letter")
    if model is not None and model._meta.db_table not in connection.introspection.table_names():
        registry.source_types.cache_clear()
        with connection.schema_editor() as editor:
            editor.create_model(model)


def converse(block: Block, names: dict[str, Any], work: Any) -> None:
    """Type each line of a session, and compare what is shown; after each, the worker does its work."""
    checker = doctest.OutputChecker()
    for example in doctest.DocTestParser().get_examples(block.text):
        shown, where = io.StringIO(), f"docs/jobs.md:{block.line + example.lineno}"
        with redirect_stdout(shown):
            try:
                exec(compile(example.source, where, "single"), names)
            except Exception as error:
                assert example.exc_msg is not None, f"{where}\n{traceback.format_exc()}"
                assert example.exc_msg == traceback.format_exception_only(error)[-1], where
                continue
            work()
        assert example.exc_msg is None, f"{where}: nothing was raised"
        assert checker.check_output(example.want, shown.getvalue(), doctest.ELLIPSIS), f"{where}: {shown.getvalue()}"


def test_the_guide_runs(reader, register, sent) -> None:
    worker = register(concurrency=100)

    def work() -> None:
        while sent:
            message = sent.pop(0)
            execute(message.id, message.attempt, worker=worker, timeout=message.timeout)

    for block in blocks(GUIDE):
        if block.language == "python":
            declare(block, reader)
        elif block.language == "pycon":
            converse(block, reader, work)


@pytest.mark.django_db
def test_the_guides_requests_are_those_of_the_api() -> None:
    """The addresses, filters and fields of its curl commands, against the OpenAPI document."""
    document = Client().get("/api/v1/openapi.json").json()
    [text] = [block.text for block in blocks(GUIDE) if block.language == "sh"]
    for command in re.split(r"^curl ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        path, query = re.search(r"\$URL(/[\w/]+)\??([\w=&]*)", command).groups()
        method = "post" if "-d '" in command or "-X POST" in command else "get"
        operation = document["paths"][re.sub(r"/\d+", "/{job_id}", path)][method]
        known = {parameter["name"] for parameter in operation.get("parameters", [])}
        assert {pair.partition("=")[0] for pair in query.split("&") if pair} <= known
        if body := re.search(r"-d '(.*)'", command, re.DOTALL):
            assert set(json.loads(body[1])) <= set(document["components"]["schemas"]["Submission"]["properties"])
