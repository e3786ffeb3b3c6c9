"""The page of the suite that compares queues has the figures of the results, of one run or of several."""

import json
from typing import Any

import pytest

from benchmarks.fair import charts, page


def test_the_page_and_its_charts_have_the_figures_of_the_results():
    for path, text in page.files(json.loads(page.RESULTS.read_text())).items():
        assert path.read_text() == text, f"python -m benchmarks.fair.page {page.RESULTS} writes {path} anew"


FIGURES = {"violations": 0, "most": 5, "limit": 8, "wait_p50_s": 0.02, "wait_p95_s": 0.4, "jobs_per_s": 70.0}
OTHER = {"violations": 3, "most": 10, "limit": 8, "wait_p50_s": 9.0, "wait_p95_s": 9.5, "jobs_per_s": 90.0}


def results(ours: dict[str, Any], celery: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One run of a flood with two queues."""
    run = {"scenario": "flood", "failed": "", "not_offered": False, "seconds": 9.0}
    return {
        **{"at": "2026-11-28", "cores": 2, "busy": 0.01, "python": "3.13", "postgresql": "18.1", "scale": 1.0},
        "peers": {"oban": {"not_installed": "no net"}},
        "scenarios": {"flood": "Words."},
        "runs": [{"peer": "ours", "figures": ours, **run}, {"peer": "celery", "figures": celery, **run}],
        **more,
    }


def better(*several: dict[str, Any]) -> str:
    text = page.files(list(several))[page.PAGE]
    return text[text.index("## Where others") : text.index("## How it is measured")]


def test_the_page_says_first_where_another_queue_is_better():
    first = better(results(FIGURES, OTHER))
    assert "| One tenant floods | jobs/s | Celery **90.0** (3 over) | – | 70.0 |" in first
    assert "wait p95" not in first
    assert "- Oban (Python): not installed: no net" in page.files([results(FIGURES, OTHER)])[page.PAGE]


def test_several_runs_state_an_order_only_if_all_of_them_have_it():
    slow = OTHER | {"jobs_per_s": 75.0}  # ahead, but not clearly
    assert "| jobs/s | Celery **80.0**" in better(
        results(FIGURES, OTHER),
        results(FIGURES, OTHER | {"jobs_per_s": 80.0}),
        results(FIGURES, OTHER | {"jobs_per_s": 80.0}),
    )
    assert "| jobs/s | in some runs only: Celery | – | 70.0 |" in better(
        results(FIGURES, OTHER), results(FIGURES, slow), results(FIGURES, OTHER)
    )
    assert "jobs/s" not in better(results(FIGURES, slow), results(FIGURES, slow))


def test_several_runs_show_the_median_and_the_worst_of_what_must_not_happen():
    broken = FIGURES | {"violations": 1, "most": 9, "wait_p50_s": 0.9}
    text = page.files([results(FIGURES, OTHER), results(broken, OTHER), results(FIGURES, OTHER)])[page.PAGE]
    assert "| **this, ordinary pool** | 9 / 8 | 1 | 0.020 | 0.400 | 70.0 |" in text
    assert "Measured 3 times on 2026-11-28" in text


def test_the_page_says_what_a_run_could_not_play_and_that_the_machine_had_other_work():
    failed = results(FIGURES, OTHER, busy=0.6)
    failed["runs"][1] |= {"failed": "It ended.", "figures": {}}
    text = page.files([results(FIGURES, OTHER), failed])[page.PAGE]
    assert "- Celery: failed in 1 of 2 runs: It ended." in text
    assert "The machine had other work" in text
    assert "jobs/s | in some runs only: Celery" in better(results(FIGURES, OTHER), failed)


def test_runs_of_different_kinds_are_not_put_together():
    with pytest.raises(ValueError, match="differ in scale"):
        page.files([results(FIGURES, OTHER), results(FIGURES, OTHER, scale=0.5)])
    with pytest.raises(ValueError, match="differ in the scenario flood"):
        page.files([results(FIGURES, OTHER), results(FIGURES, OTHER, scenarios={"flood": "Others."})])


def test_a_chart_has_a_row_for_each_queue_and_a_value_beside_it():
    rows = [
        charts.Row("one & two", 0.01, 0.5, "10 to 500 ms", own=True),
        charts.Row("three", 1.0, 30.0, "slow", own=False),
    ]
    for drawn in (charts.ranges("Wait", "s", rows, 0.001), charts.bars("Wait", rows, 40.0)):
        assert "one &amp; two" in drawn
        assert "10 to 500 ms" in drawn
        assert drawn.count('class="own"') >= 1
