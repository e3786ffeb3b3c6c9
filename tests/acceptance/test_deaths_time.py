"""A machine whose clock is wrong, or is set: it changes nothing, because every moment is PostgreSQL's."""

import ast
from pathlib import Path

import pytest

from embedded import REPOSITORY
from tests.acceptance.following import ended
from tests.factories import ThingFactory
from tests.sample.models import Run

LONG = pytest.mark.long("a clock that jumps; that no decision asks the machine's clock stays")

# What decides, or writes a moment. Elsewhere a wrong clock shows a wrong age to a person, no more.
DECIDES = ["engine", "store", "worker", "recording"]
OF_THE_CACHE = "results.py"  # how long a result is kept there is told to the cache, which has a clock of its own
WALL_CLOCK = {
    "time.time",
    "time.time_ns",
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "timezone.now",
    "date.today",
}

# Python looks for a module of this name when it starts, and imports it.
SITECUSTOMIZE = """
import threading, time
real, real_ns, begun = time.time, time.time_ns, time.monotonic()
def step():  # right after the start one hour off; set back and forth from then on
    return {hours} * 3600 * (1 if int(time.monotonic() - begun) % 2 == 0 else -1)
time.time = lambda: real() + step()
time.time_ns = lambda: real_ns() + step() * 10**9
"""


def modules() -> list[Path]:
    found = {name: sorted((REPOSITORY / "jobs" / name).rglob("*.py")) for name in DECIDES}
    assert all(found.values()), "a folder that has moved"
    return [path for paths in found.values() for path in paths if path.name != OF_THE_CACHE]


def wall_clock_calls(source: str) -> list[str]:
    """The calls that ask the machine what time it is."""
    calls = [ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [call for call in calls if ".".join(call.split(".")[-2:]) in WALL_CLOCK]


def test_no_decision_takes_its_time_from_the_machine():
    calls = {str(path.relative_to(REPOSITORY)): wall_clock_calls(path.read_text()) for path in modules()}
    assert {path: called for path, called in calls.items() if called} == {}


def test_a_call_that_does_is_found():
    assert wall_clock_calls("import datetime\nx = datetime.datetime.now(tz=UTC)") == ["datetime.datetime.now"]
    assert wall_clock_calls("seconds = time.monotonic()") == []


@LONG
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("hours", [1, -1])
def test_a_worker_whose_clock_jumps_by_an_hour_runs_retries_and_keeps_moments(start_worker, environ, tmp_path, hours):
    (tmp_path / "sitecustomize.py").write_text(SITECUSTOMIZE.format(hours=hours))
    environ["PYTHONPATH"] = str(tmp_path)
    start_worker(concurrency=1)
    thing = ThingFactory()
    retried, delayed, limited = thing.async_.fail_first(2), thing.async_(delay=1).echo(), thing.async_(timeout=1).spin()
    job = ended(retried)
    assert (job.status, job.attempt, job.retries) == ("success", 3, 2)
    job = ended(delayed)
    assert job.status == "success"
    assert 1 <= (job.start_time - job.created_at).total_seconds() < 30
    assert ended(limited).last_error == "TimeoutError: timed out after 1 s"
    assert sorted(Run.objects.filter(job_id=retried).values_list("attempt", flat=True)) == [1, 2, 3]
