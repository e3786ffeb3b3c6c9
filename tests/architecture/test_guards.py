"""Every arrow is guarded, and `make mutants` can take each guard away."""

import re
from pathlib import Path

import pytest
from django.db import transaction

from jobs.lifecycle import ARROWS
from jobs.sql import HERE, files, statement
from jobs.sql import whole as as_written
from tests.architecture.guards import Guard, guards, whole, without
from tests.architecture.mutants import KNOWING, REPOSITORY, VERBS, everything
from tests.sql import sql

JOBS = REPOSITORY / "jobs"
GOING = {name: as_written(name) for name in files()}
GOING = {name: text for name, text in GOING.items() if text.startswith("-- Arrow:")}
GUARDS = list(guards(REPOSITORY))


def guard_of(code: str) -> Guard:
    return Guard(Path("jobs/sql/example.sql"), 2, 2, code, "", "example")


def accepted(statement: str) -> None:
    """Let PostgreSQL plan it, with 1 for a parameter to reckon with and null for another. Raises its error."""
    reckoned = re.sub(r"%\(\w+\)s(?= [+*])|(?<=\+ )%\(\w+\)s", "1", statement)
    sql("EXPLAIN " + re.sub(r"%\(\w+\)s", "NULL", reckoned).replace("%%", "%"))


def moves(text: str) -> bool:
    """Whether it sets the status of a job, or makes or deletes one."""
    text = re.sub(r"--.*", "", text)
    return bool(re.search(r"\bUPDATE jobs\b( j)?\s+SET\s+status = |(INSERT INTO|DELETE FROM) jobs\b", text))


def test_the_statements_of_an_arrow_name_it(subtests):
    for arrow in ARROWS:
        for name in arrow.statements:
            header = re.match(r"(?:--.*\n)+", as_written(name))[0].partition("-- Who:")[0]
            with subtests.test(name):
                assert re.search(rf"\b{arrow.verb}\b", header)


def test_no_other_statement_moves_a_job():
    named = {name for arrow in ARROWS for name in arrow.statements}
    assert set(GOING) == named
    assert {name for name in files() if moves(statement(name))} == named


def test_a_statement_lies_in_the_folder_of_the_one_module_that_runs_it(subtests):
    packages = ("deaths", "explain", "forecasts", "health", "recording")  # their modules run all
    others = (
        "reading/looking",
        "reading/queries",
        "insight/starts",
        "reading/usage",
        "reading/budgets",
        "insight/replay",
        "reading/explain/reads",
        *(f"reading/health/{name}" for name in ("looks", "quiet", "target_look")),
    )
    others += (
        *(f"recording/{name}" for name in ("statements", "record", "close", "sample")),
        "insight/forecasts/statements",
    )
    others += (
        "engine/deaths/notify",
        "engine/upkeep/prune",
        "engine/attempt/memory",
        "engine/upkeep/id_gaps",
    )
    others += ("engine/webhooks/outbox", "reading/webhooks")
    others += ("checks/databases", "reading/blocks")
    modules = [*(JOBS / "store").glob("*.py"), *(JOBS / f"{other}.py" for other in others)]
    sources = [
        (module.parent.name if module.parent.name in packages else module.stem, module.read_text(encoding="utf-8"))
        for module in modules
    ]
    pages = [page.read_text(encoding="utf-8") for page in (JOBS / "console" / "ops").rglob("*.py")]
    looks = [line for page in pages for line in page.splitlines() if re.search(r"\blook(_objects)?\(", line)]
    sources.append(("ops", "\n".join(looks)))
    for name, path in files().items():
        names = re.compile(rf"""[(=]\s*(?:\w+, )?"{name}\"""")
        with subtests.test(name):
            assert [place for place, text in sources if names.search(text)] == [path.relative_to(HERE).parts[0]]


def test_a_statement_that_goes_an_arrow_has_a_guard():
    assert {name for name, text in GOING.items() if "-- guard" not in text} == set()


def test_a_statement_tells_the_door_what_it_has_to_know(subtests):
    """Of a job that becomes ready, and of a slot that becomes free; a wake-up would be lost otherwise."""
    for name, text in GOING.items():
        with subtests.test(name):
            if re.search(r"\bready_at = (?!NULL)", text) or "INSERT INTO jobs" in text:
                assert "-- include shared/arrive" in text
            if "slot = NULL" in text:
                assert "-- include shared/freed" in text


def test_a_fenced_arrow_is_guarded_by_the_attempt():
    attempt = r"%\(attempt\)s|.*'jobs\.kept'|(before|g)\.attempt"  # the second is the claim's; the third, of many
    fence = re.compile(rf"\battempt = ({attempt}).*-- guard")
    fenced = {name for arrow in ARROWS if arrow.fenced for name in arrow.statements}
    assert {name for name in fenced if not fence.search(GOING[name])} == set()


def test_the_fence_on_the_process_stands_in_one_chapter():
    """Of one attempt. The others do not compare: they set the holder; or they compare those of many attempts."""
    compared = re.compile(r"\bworker_pid (=|<>|IN|IS|BETWEEN|<|>)")
    texts = {str(path.relative_to(HERE)): re.sub(r"--.*", "", path.read_text()) for path in HERE.rglob("*.sql")}
    setting = {"claiming/start_kept.sql", "shared/follows.sql", "claiming/claim/take.sql"}
    of_many = {"trips/succeed_many.sql": 1, "trips/start_many.sql": 1, "attempts/short.sql": 2}
    found = {path: len(compared.findall(text)) for path, text in texts.items() if compared.search(text)}
    assert found == dict.fromkeys({"shared/held_by.sql"} | setting, 1) | of_many


def test_without_a_guard_there_is_another_statement(subtests):
    for guard in GUARDS:
        with subtests.test(str(guard)):
            text = (REPOSITORY / guard.path).read_text(encoding="utf-8")
            assert without(text, guard) != text


@pytest.mark.django_db
def test_postgresql_accepts_every_statement_that_has_a_guard(subtests):
    for guard in {guard.path: guard for guard in GUARDS}.values():
        text = (REPOSITORY / guard.path).read_text(encoding="utf-8")
        with subtests.test(str(guard)), transaction.atomic():
            accepted(whole(guard, REPOSITORY, text))


@pytest.mark.long("a guard whose line cannot go alone: `make mutants` fails at it, too, and says which")
@pytest.mark.django_db
def test_postgresql_accepts_every_statement_without_one_of_its_guards(subtests):
    for guard in GUARDS:
        text = (REPOSITORY / guard.path).read_text(encoding="utf-8")
        with subtests.test(str(guard)), transaction.atomic():
            accepted(whole(guard, REPOSITORY, without(text, guard)))


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
