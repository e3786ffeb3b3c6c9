"""A log line, for people and for a log server: the same facts, and nobody can forge one."""

import json
import logging
import sys

import pytest
from django.core.checks import run_checks

from jobs import telemetry
from scheduler_project import checks
from scheduler_project.logs import OnceASecond, formatter

FORMS = ["line", "json"]


@pytest.fixture(params=FORMS)
def written(request, caplog):
    """The lines logged so far, as the formatter of that name writes them inside the present block."""
    caplog.set_level("INFO")
    form = formatter(request.param)
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    keep = Keep()
    keep.setFormatter(form)
    logging.getLogger().addHandler(keep)
    yield lines
    logging.getLogger().removeHandler(keep)


def facts_of(line: str) -> dict[str, str]:
    """The facts of a line in either form, as text."""
    if line.startswith("{"):
        return {name: str(value) for name, value in json.loads(line).items()}
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def test_a_transition_has_its_job_attempt_and_tenant(written):
    telemetry.applied("start", 7, 2, tenant=3, worker="w")
    [line] = written
    assert facts_of(line).items() >= {"job": "7", "attempt": "2", "tenant": "3", "worker": "w"}.items()


def test_every_line_inside_a_block_has_its_facts_and_none_outside(written):
    with telemetry.about(job=7, attempt=1, tenant=3):
        logging.getLogger("of.the.author").info("half-way at %s", "page 4")
    logging.getLogger("of.the.author").info("nobody's")
    inside, outside = written
    assert facts_of(inside).items() >= {"job": "7", "attempt": "1", "tenant": "3"}.items()
    assert "half-way at page 4" in inside
    assert not facts_of(outside).keys() & {"job", "attempt", "tenant"}


def test_the_facts_of_a_line_win_over_those_of_its_block(written):
    with telemetry.about(request="r1", job=7, attempt=1, tenant=3):
        telemetry.applied("submit", 8, tenant=4)
    [line] = written
    assert facts_of(line).items() >= {"request": "r1", "job": "8", "attempt": "0", "tenant": "4"}.items()
    assert line.count("job") == line.count("jobs") + 1, "once"


def test_facts_learned_inside_a_block_end_with_it(written):
    with telemetry.about(request="r1"):
        telemetry.learn(tenant=3)
        telemetry.noticed("one")
    telemetry.learn(tenant=4)
    telemetry.noticed("two")
    assert facts_of(written[0])["tenant"] == "3"
    assert "tenant" not in facts_of(written[1])


def test_a_text_of_somebody_else_stays_in_its_line(written):
    telemetry.noticed("message refused", task="x\n2026-11-21T00:00:00.000Z INFO jobs start job=1\u2028\x1b[2J")
    [line] = written
    assert len(line.splitlines()) == 1
    assert line.isprintable()


def test_an_exception_is_told_with_its_traceback(written):
    try:
        raise LookupError("on purpose")
    except LookupError:
        logging.getLogger("x").exception("failed")
    [line] = written
    assert "LookupError: on purpose" in line
    assert __file__ in line


def test_a_line_break_in_the_text_of_an_exception_forges_no_line():
    forged = "2026-11-21T00:00:00.000Z INFO jobs succeed job=1"
    try:
        raise LookupError(f"x\n{forged}\r{forged}\u2028{forged}")
    except LookupError:
        made = logging.LogRecord("jobs", logging.ERROR, "", 0, "job failed", None, sys.exc_info())
    first, *others = formatter("line").format(made).splitlines()
    assert first.endswith("ERROR jobs job failed")
    assert [line for line in others if not line.startswith("  ")] == []


def test_json_has_the_time_the_level_and_the_event_of_its_own_whatever_the_facts():
    made = logging.LogRecord("jobs", logging.WARNING, "", 0, "worker gone worker=w", None, None)
    made.created, made.event, made.facts = 0.25, "worker gone", {"worker": "w", "level": "none", "seconds": 0.5}
    assert json.loads(formatter("json").format(made)) == {
        "time": "1970-01-01T00:00:00.250Z",
        "level": "warning",
        "logger": "jobs",
        "event": "worker gone",
        "worker": "w",
        "seconds": 0.5,
    }


def test_nothing_is_built_for_a_line_that_nobody_reads(caplog):
    class Unshown:
        def __format__(self, _: str) -> str:
            raise AssertionError("shown")

    caplog.set_level("WARNING")
    telemetry.applied("start", 7, 2, tenant=Unshown())
    with pytest.raises(AssertionError, match="shown"):
        telemetry.noticed("worker gone", worker=Unshown())


@pytest.mark.parametrize(
    ("chosen", "found"), [("", []), ("console", []), ("jaeger", ["is 'jaeger'"]), ("otlp", ["not installed"])]
)
def test_an_exporter_of_traces_that_is_not_there_is_refused(settings, chosen, found):
    settings.TRACES = chosen
    errors = [one.msg for one in run_checks(tags=[checks.TAG]) if one.id == "scheduler.E012"]
    assert len(errors) == len(found)
    assert all(text in error for text, error in zip(found, errors, strict=True))


@pytest.mark.parametrize(("chosen", "found"), [("line", 0), ("json", 0), ("xml", 1), ("JSON", 1)])
def test_a_misspelt_format_is_refused(settings, chosen, found):
    settings.LOG_FORMAT = chosen
    errors = [one for one in run_checks(tags=[checks.TAG]) if one.id == "scheduler.E010"]
    assert len(errors) == found


def test_a_repeated_message_is_logged_once_a_second():
    once = OnceASecond()

    def passes(message: str, at: float) -> bool:
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, message, None, None)
        record.created = at
        return once.filter(record)

    said = "socket.accept() out of system resource"
    assert passes(f"{said}\nsocket: 1", 100.0)
    assert not passes(f"{said}\nsocket: 2", 100.9)
    assert passes("something else", 100.9)
    assert passes(said, 101.1)
    for n in range(1000):
        passes(str(n), 102.0)
    assert len(once._last) <= 101
