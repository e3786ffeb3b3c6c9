"""The suite that compares queues: the page has the figures of the results, the runner knows no queue."""

import ast
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from benchmarks.fair import body, charts, history, page, scenarios, venvs
from benchmarks.fair.bell import CUT, END, START, Bell, Ring
from benchmarks.fair.figures import SHOWN
from benchmarks.fair.host import VERBS
from benchmarks.fair.peers import HERE
from embedded import REPOSITORY
from tests.waiting import wait_until

PRODUCT = ("jobs", "tenants", "plumbing", "reports", "scheduler_project", "workload", "contenders")
ADAPTERS = sorted((HERE / "adapters").glob("[!_]*.py"))


def test_the_page_and_its_charts_have_the_figures_of_the_results():
    for path, text in page.files(json.loads(page.RESULTS.read_text())).items():
        assert path.read_text() == text, f"python -m benchmarks.fair.page {page.RESULTS} writes {path} anew"


def test_the_page_says_first_where_another_queue_is_better():
    run = {"scenario": "flood", "failed": "", "not_offered": False, "seconds": 9.0}
    figures = {"violations": 0, "most": 5, "limit": 8, "wait_p50_s": 0.02, "wait_p95_s": 0.4, "jobs_per_s": 70.0}
    other = {"violations": 3, "most": 10, "limit": 8, "wait_p50_s": 9.0, "wait_p95_s": 9.5, "jobs_per_s": 90.0}
    results = {
        **{"at": "2026-11-28", "cores": 2, "load": 0.1, "python": "3.13", "postgresql": "18.1", "scale": 1.0},
        "peers": {"celery": {"not_installed": "no net"}},
        "scenarios": {"flood": "Words."},
        "runs": [{"peer": "ours", "figures": figures, **run}, {"peer": "celery", "figures": other, **run}],
    }
    text = page.files(results)[page.PAGE]
    first = text[text.index("## Where others") : text.index("## How it is measured")]
    assert "| One tenant floods | jobs/s | Celery: **90.0**; 3 starts beyond a limit | – | 70.0 |" in first
    assert "wait p95" not in first
    assert "- Celery: not installed: no net" in text


def test_the_runner_names_no_queue_and_imports_nothing_of_this_project():
    names = "|".join(venvs.names())
    for path in HERE.rglob("*.py"):
        if path == HERE / "page.py" or "adapters" in path.parts:
            continue
        text = path.read_text()
        assert not re.search(rf"\b(?:{names})\b", text, re.IGNORECASE), path
        assert not re.search(rf"^\s*(?:from|import) (?:benchmarks\.)?(?:{'|'.join(PRODUCT)})\b", text, re.MULTILINE), (
            path
        )


@pytest.mark.parametrize("path", ADAPTERS, ids=[path.stem for path in ADAPTERS])
def test_an_adapter_has_the_verbs_and_says_what_it_is(path):
    module = ast.parse(path.read_text())
    names = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    for node in module.body:
        if isinstance(node, ast.Assign):
            names |= {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    assert {*VERBS, "NEEDS", "VERSION", "DOCS", "LIMITS"} <= names


def test_every_scenario_has_words_and_figures_to_show():
    for name in (*scenarios.NAMES, *scenarios.NAMED):
        assert scenarios.words(name).endswith(".")
        assert SHOWN[name]
        assert name in page.TITLES


BODIES = """
import asyncio, threading
from fair.body import arun, run
threads = [threading.Thread(target=run, args=["a", n, 0.0]) for n in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
async def many():
    await asyncio.gather(*(arun("b", n, 0.0) for n in range(2, 30)))
asyncio.run(many())
"""


def bodies(bell: Bell, code: str) -> "subprocess.Popen[bytes]":
    """A process that runs bodies of this bell."""
    environ = os.environ | {body.BELL: bell.address, "PYTHONPATH": str(REPOSITORY / "benchmarks")}
    return subprocess.Popen([sys.executable, "-c", code], env=environ)


def test_bodies_tell_the_bell_from_threads_and_from_a_loop():
    with Bell() as bell:
        with bodies(bell, BODIES) as process:
            assert process.wait(60) == 0
        runs = history.runs(bell.rings)
    assert sorted(run.id for run in runs) == list(range(30))
    assert all(run.start <= run.end < history.inf and not run.cut for run in runs)


def test_a_body_whose_process_is_killed_has_ended_at_that_moment():
    with Bell() as bell:
        with bodies(bell, "from fair.body import run; run('a', 7, 60)") as process:
            wait_until(lambda: bell.rings, "the body starts")
            process.send_signal(signal.SIGKILL)
        wait_until(lambda: len(bell.rings) == 2, "the bell sees the death")
    assert [(ring.event, ring.id) for ring in bell.rings] == [(START, 7), (CUT, 7)]
    assert history.runs(bell.rings)[0].cut


def ring(moment: float, event: str, id: int, tenant: str = "a") -> Ring:
    return Ring(moment, event, tenant, id, 1)


def test_a_start_beyond_a_limit_is_counted_and_a_lower_limit_has_a_second_of_grace():
    limits = history.Limits()
    limits.set("a", 2, 0.0)
    rings = [ring(1, START, 1), ring(2, START, 2), ring(3, START, 3), ring(4, END, 3), ring(5, END, 2)]
    assert history.at_once(rings, limits)["a"] == history.AtOnce(most=3, limit=2, over=1)
    limits.set("a", 1, 5.0)
    early, late = [ring(5.9, START, 4), ring(5.95, END, 4)], [ring(6.1, START, 5)]
    assert history.at_once([*rings, *early], limits)["a"].over == 1
    assert history.at_once([*rings, *late], limits)["a"].over == 2


def test_a_job_that_runs_twice_at_once_and_the_shares_of_tenants_are_counted():
    twice = [history.Run("a", 1, 0.0, 4.0), history.Run("a", 1, 3.0, 5.0), history.Run("b", 2, 1.0)]
    assert history.twice_at_once(twice) == 1
    assert history.seconds(twice, 2.0, 10.0, ["a", "b", "c"]) == {"a": 4.0, "b": 8.0, "c": 0.0}
    assert history.jain([2.0, 2.0]) == 1.0
    assert history.jain([4.0, 0.0]) == 0.5
    assert [history.quantile(list(range(1, 101)), percent) for percent in (50, 95, 99)] == [50, 95, 99]


def test_a_chart_has_a_row_for_each_queue_and_a_value_beside_it():
    rows = [
        charts.Row("one & two", 0.01, 0.5, "10 to 500 ms", own=True),
        charts.Row("three", 1.0, 30.0, "slow", own=False),
    ]
    for drawn in (charts.ranges("Wait", "s", rows, 0.001), charts.bars("Wait", rows, 40.0)):
        assert "one &amp; two" in drawn
        assert "10 to 500 ms" in drawn
        assert drawn.count('class="own"') >= 1
