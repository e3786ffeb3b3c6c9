"""Every arrow is guarded, and `make mutants` can take each guard away."""

import re
from pathlib import Path

import pytest
from django.db import connection

from jobs.lifecycle import ARROWS
from jobs.sql import HERE, files, statement
from jobs.sql import whole as as_written
from tests.architecture.guards import Guard, guards, whole, without
from tests.architecture.mutants import KNOWING, REPOSITORY, VERBS, everything

JOBS = REPOSITORY / "jobs"
GOING = {name: as_written(name) for name in files()}
GOING = {name: text for name, text in GOING.items() if text.startswith("-- Arrow:")}
GUARDS = list(guards(REPOSITORY))


def guard_of(code: str) -> Guard:
    return Guard(Path("jobs/sql/example.sql"), 2, 2, code, "", "example")


def accepted(statement: str) -> None:
    """Let PostgreSQL plan it, with 1 for a parameter to reckon with and null for another. Raises its error."""
    reckoned = re.sub(r"%\(\w+\)s(?= [+*])|(?<=\+ )%\(\w+\)s", "1", statement)
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + re.sub(r"%\(\w+\)s", "NULL", reckoned).replace("%%", "%"))


def moves(text: str) -> bool:
    """Whether it sets the status of a job, or makes or deletes one."""
    text = re.sub(r"--.*", "", text)
    return bool(re.search(r"\bUPDATE jobs\b( j)?\s+SET\s+status = |(INSERT INTO|DELETE FROM) jobs\b", text))


@pytest.mark.parametrize("arrow", ARROWS, ids=lambda arrow: arrow.verb)
def test_the_statements_of_an_arrow_name_it(arrow):
    for name in arrow.statements:
        header = re.match(r"(?:--.*\n)+", as_written(name))[0].partition("-- Who:")[0]
        assert re.search(rf"\b{arrow.verb}\b", header), name


def test_no_other_statement_moves_a_job():
    named = {name for arrow in ARROWS for name in arrow.statements}
    assert set(GOING) == named
    assert {name for name in files() if moves(statement(name))} == named


@pytest.mark.parametrize("name", files())
def test_a_statement_lies_in_the_folder_of_the_one_module_that_runs_it(name):
    folder = files()[name].relative_to(HERE).parts[0]
    names = re.compile(rf"""[(=]\s*(?:\w+, )?"{name}\"""")
    packages = ("deaths", "explain", "health", "recording", "ops")  # one module of each runs all its statements
    others = ("reading/looking", "reading/queries", "reading/explain/reads", "reading/health/looks")
    others += ("recording/statements", "console/ops/looks", "engine/deaths/unannounced")
    modules = [*(JOBS / "store").glob("*.py"), *(JOBS / f"{other}.py" for other in others)]
    running = [module for module in modules if names.search(module.read_text(encoding="utf-8"))]
    assert [module.parent.name if module.parent.name in packages else module.stem for module in running] == [folder]


@pytest.mark.parametrize("name", GOING)
def test_a_statement_that_goes_an_arrow_has_a_guard(name):
    assert "-- guard" in GOING[name]


@pytest.mark.parametrize("name", GOING)
def test_a_statement_tells_the_door_what_it_has_to_know(name):
    """Of a job that becomes ready, and of a slot that becomes free; a wake-up would be lost otherwise."""
    text = GOING[name]
    if re.search(r"\bready_at = (?!NULL)", text) or "INSERT INTO jobs" in text:
        assert "-- include shared/arrive" in text
    if "slot = NULL" in text:
        assert "-- include shared/freed" in text


@pytest.mark.parametrize("arrow", [arrow for arrow in ARROWS if arrow.fenced], ids=lambda arrow: arrow.verb)
def test_a_fenced_arrow_is_guarded_by_the_attempt(arrow):
    fence = re.compile(r"\battempt = (%\(attempt\)s|.*'jobs\.kept').*-- guard")  # the latter is the claim's
    for name in arrow.statements:
        assert fence.search(GOING[name])


@pytest.mark.django_db
@pytest.mark.parametrize("guard", GUARDS, ids=str)
def test_without_a_guard_there_is_still_a_statement_and_another_one(guard):
    text = (REPOSITORY / guard.path).read_text(encoding="utf-8")
    mutant = without(text, guard)
    assert mutant != text
    accepted(whole(guard, REPOSITORY, text))
    accepted(whole(guard, REPOSITORY, mutant))


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("AND status = 'queued'", ""),
        ("WHERE NOT q.paused", "WHERE true"),
        ("FROM jobs j WHERE j.slot IS NULL", "FROM jobs j WHERE true"),
        ("ON CONFLICT (id) DO NOTHING", ""),
        ("SELECT pg_advisory_xact_lock(1)", "SELECT true"),
    ],
)
def test_only_the_line_of_the_guard_changes(code, left):
    assert without(f"first\n  {code}  -- guard I3\nlast\n", guard_of(code)) == f"first\n{left}\nlast\n"


def test_a_guard_of_two_lines_goes_as_one(tmp_path):
    folder = tmp_path / "jobs" / "sql"
    folder.mkdir(parents=True)
    text = "SELECT 1\nWHERE true\n  AND CASE WHEN true THEN false\n      ELSE true END  -- guard I3\n"
    (folder / "example.sql").write_text(text)
    (guard,) = guards(tmp_path)
    assert (guard.code, guard.invariant) == ("AND CASE WHEN true THEN false ELSE true END", "I3")
    assert without(text, guard) == "SELECT 1\nWHERE true\n\n"


def test_a_guard_belongs_to_the_statement_whose_name_stands_above_it(tmp_path):
    folder = tmp_path / "jobs" / "sql"
    folder.mkdir(parents=True)
    (folder / "short.sql").write_text("-- name: one\nSELECT 1\n\n-- name: two\nSELECT 2\nWHERE true  -- guard\n")
    (guard,) = guards(tmp_path)
    assert (guard.statement, guard.line) == ("two", 6)


def test_a_guard_of_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"example\.sql:2: how is this guard removed\? LIMIT 1"):
        without("first\nLIMIT 1  -- guard\n", guard_of("LIMIT 1"))


def test_the_tests_that_know_a_statement_are_there():
    statements = set(files()) | {guard.statement for guard in GUARDS}
    assert set(KNOWING) <= statements
    for tests in (VERBS, *KNOWING.values(), everything()):
        assert all((REPOSITORY / path).exists() for path in tests)
