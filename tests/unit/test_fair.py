"""The suite that compares queues: its runner knows no queue, and believes the bodies only."""

import ast
import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from benchmarks.fair import body, history, ideal, page, scenarios, usage, venvs
from benchmarks.fair.bell import CUT, END, START, Bell, Ring
from benchmarks.fair.figures import SHOWN
from benchmarks.fair.host import VERBS
from benchmarks.fair.peers import HERE
from benchmarks.fair.scenarios import zipf
from benchmarks.fair.scene import WARM, Scene
from embedded import REPOSITORY
from tests.waiting import wait_until

PRODUCT = ("jobs", "tenants", "plumbing", "reports", "scheduler_project", "workload", "contenders")
ADAPTERS = sorted((HERE / "adapters").glob("[!_]*.py"))


def test_the_words_of_the_shares_have_the_index_that_an_ideal_scheduler_reaches():
    jobs, places = zipf.backlogs(), zipf.WORKERS * zipf.AT_ONCE
    begins = range(int(zipf.WARM), int(zipf.FULL + zipf.WARM) + 1, 3)  # some workers take longer to start
    worst = min(ideal.index(jobs, places, zipf.SLOTS, begin, begin + zipf.WINDOW) for begin in begins)
    assert f"{worst:.3f}" == "0.997"
    assert "Jain's index of 0.997" in zipf.WORDS


def test_an_ideal_scheduler_takes_the_least_served_tenant_within_its_slots():
    jobs = {"long": [4.0] * 9, "short": [1.0] * 9}
    assert ideal.index(jobs, places=1, slots=1, begin=0.0, end=8.0) == 1.0
    assert ideal.index({"one": [1.0] * 9, "two": []}, places=4, slots=2, begin=0.0, end=4.0) == 0.5


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
    assert bell.rings[0].pid == process.pid
    assert history.runs(bell.rings)[0].cut


def test_the_processes_of_a_worker_are_found():
    code = "import os; os.fork() or os.execvp('sleep', ['sleep', '60']); print(flush=True); os.wait()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        process.stdout.readline()
        assert len(usage.tree([process.pid])) == 2
        os.killpg(process.pid, signal.SIGKILL)
    assert 0 <= usage.busy() <= 1


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


class Told:
    """A queue that notes when it was told a limit."""

    about: ClassVar[dict[str, Any]] = {"needs": [], "most_at_once": None}
    moment = 0.0

    def setup(self, urls: dict[str, str], tenants: dict[str, int]) -> None:
        pass

    def limit(self, tenant: str, slots: int) -> None:
        self.moment = time.monotonic()


def scene(*rings: Ring) -> Scene:
    made = Scene(Told(), SimpleNamespace(rings=list(rings)), None, {})
    made.setup({"a": 2, "b": 1})
    return made


def test_a_scene_counts_the_starts_beyond_the_limits_of_all_tenants_and_none_of_the_warm_up():
    now = time.monotonic() + 10  # the limits of a setup count from then on
    many = [ring(now, START, n, WARM) for n in range(10, 15)]
    played = scene(*many, *(ring(now, START, n, "a") for n in range(4)), *(ring(now, START, n, "b") for n in (5, 6)))
    assert played.bounds() == {"violations": 2 + 1, "most": 4, "limit": 2, "at_once": 0}
    assert played.running() == 6


def test_a_higher_limit_counts_from_its_call_on_and_a_lower_one_from_its_return_on():
    played = scene()
    played.limit("a", 3)
    assert played.limits.changes["a"][-1][0] < played.peer.moment
    played.limit("a", 1)
    assert played.limits.changes["a"][-1][0] > played.peer.moment


def test_a_job_that_runs_twice_at_once_and_the_shares_of_tenants_are_counted():
    twice = [history.Run("a", 1, 0.0, 4.0), history.Run("a", 1, 3.0, 5.0), history.Run("b", 2, 1.0)]
    assert history.twice_at_once(twice) == 1
    assert history.seconds(twice, 2.0, 10.0, ["a", "b", "c"]) == {"a": 4.0, "b": 8.0, "c": 0.0}
    assert history.jain([2.0, 2.0]) == 1.0
    assert history.jain([4.0, 0.0]) == 0.5
    assert [history.quantile(list(range(1, 101)), percent) for percent in (50, 95, 99)] == [50, 95, 99]
