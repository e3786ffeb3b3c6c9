"""What `make bench` says of a figure, without measuring any."""

import importlib
from argparse import ArgumentTypeError
from collections import Counter
from itertools import product

import pytest

from benchmarks import EVERY_VERSION, LARGE, POOL, ROWS, bells, mix, postgresqls, tables
from benchmarks.__main__ import named
from benchmarks.bars import Bar
from benchmarks.bells import Ring
from benchmarks.simulated import Belt
from jobs.store import Claimed

FIGURES = {"jobs/s": {"ours": 60.0, "Celery": 100.0}, "ms": {"ours": 3.0}}


def passed(bar: Bar) -> bool:
    return bar.verdict(FIGURES)["passed"]


def test_a_ratio_or_a_figure_alone_passes_its_bar_or_misses_it():
    assert passed(Bar(of=("jobs/s", "ours"), to=("jobs/s", "Celery"), at_least=0.6))
    assert not passed(Bar(of=("jobs/s", "ours"), to=("jobs/s", "Celery"), at_least=0.61))
    assert passed(Bar(of=("ms", "ours"), at_most=3))
    assert not passed(Bar(of=("ms", "ours"), at_most=2.9))
    assert passed(Bar(of=("ms", "ours"), at_least=2.9, at_most=3.1))
    assert not passed(Bar(of=("ms", "ours"), at_least=3.1, at_most=3.2))


@pytest.mark.parametrize(
    ("bar", "mark"),
    [
        (Bar(of=("ms", "ours"), at_most=4, goal=3), "GOAL"),
        (Bar(of=("ms", "ours"), at_most=4, goal=2.9), "PASS"),
        (Bar(of=("ms", "ours"), at_most=2, goal=3), "MISS"),
        (Bar(of=("jobs/s", "ours"), at_least=50, goal=60), "GOAL"),
        (Bar(of=("jobs/s", "ours"), at_least=50, goal=61), "PASS"),
        (Bar(of=("jobs/s", "seed"), at_least=50, goal=61), "MISS"),
        (Bar(of=("ms", "ours"), at_most=3), "PASS"),
    ],
)
def test_a_bar_that_passes_may_reach_a_goal_beyond_it(bar, mark, capsys):
    tables.show({}, [bar.verdict(FIGURES)])
    assert capsys.readouterr().out.split()[0] == mark


def test_bodies_are_counted_in_memory_by_process(tmp_path, monkeypatch):
    monkeypatch.setenv(bells.ADDRESS, str(tmp_path / "bell"))
    (tmp_path / "tally-0").write_bytes((2).to_bytes(8, "little"))  # of another process
    bells.tally()
    bells.tally()
    assert bells.tallied() == 4


def rung(*events: tuple[float, str, int, int]) -> list[Ring]:
    """Reports of bodies: when, which event, tenant, n."""
    return [Ring(moment, (event, str(tenant), str(n))) for moment, event, tenant, n in events]


def test_the_most_bodies_at_once_are_those_of_one_owner_and_not_of_all(monkeypatch):
    first, second = 1, 2
    rings = rung((1, "begin", first, 0), (2, "begin", second, 0), (3, "begin", first, 1), (4, "end", first, 0))
    monkeypatch.setattr(bells, "_heard", rings + rung((5, "begin", first, 2), (6, "begin", second, 1)))
    assert bells.most_at_once(lambda tenant, _: tenant) == 2
    assert bells.most_at_once(lambda *_: "all of them") == 4
    assert bells.most_at_once(lambda tenant, n: tenant if n < 1 else None) == 1


def test_the_seconds_in_bodies_may_be_those_of_some_numbers(monkeypatch):
    rings = rung((1, "begin", 7, 0), (2, "begin", 7, 100), (4, "end", 7, 0), (9, "end", 7, 100))
    monkeypatch.setattr(bells, "_heard", rings)
    assert bells.seconds_in_bodies(0, 8) == {7: 3 + 6}
    assert bells.seconds_in_bodies(0, 8, range(50)) == {7: 3}


def test_the_mix_gives_half_of_a_tenants_jobs_to_each_pool_and_failures_to_every_queue_and_user():
    turns = range(len(mix.QUEUES) * mix.USERS * mix.FAILING)
    pools = Counter(mix.pool(turn) for turn in turns)
    assert pools[POOL] == pools[mix.OTHER] == len(turns) / 2
    failing = [mix.options(turn) for turn in turns if mix.arguments(turn)]
    assert len(failing) == len(turns) / mix.FAILING
    assert all(options["max_retries"] == 1 for options in failing)
    everywhere = set(product(mix.QUEUES, (f"user{n}" for n in range(mix.USERS))))
    assert {(options["queue"], options["user"]) for options in failing} == everywhere


def test_a_figure_that_was_not_measured_misses_its_bar():
    assert not passed(Bar(of=("ms", "seed"), at_most=3))
    assert not passed(Bar(of=("ms", "ours"), to=("ms", "seed"), at_most=3))


def test_every_row_can_be_run_and_its_bars_fit_eighty_columns(subtests, capsys):
    for row in (*ROWS, *LARGE):
        with subtests.test(row):
            module = importlib.import_module(f"benchmarks.rows.{row}")
            assert callable(module.measure)
            figures = {what: {"ours": 123456.0} for bar in module.BARS for what, _ in [bar.of]}
            tables.show(figures, [bar.verdict(figures) for bar in module.BARS])
            lines = capsys.readouterr().out.splitlines()
            assert max(map(len, lines)) <= 80, lines


def test_a_group_is_one_name_for_its_rows_and_an_unknown_name_is_refused():
    assert named("light-pool")[:2] == ["light_drain", "light_waiting"]
    assert named("insight, drain") == ["coverage", "what_if", "budgets", "drain"]
    with pytest.raises(ArgumentTypeError, match="'hindsight' is unknown"):
        named("hindsight")


def test_rows_that_depend_on_the_version_are_run_on_the_oldest_one_too(tmp_path, monkeypatch):
    monkeypatch.setattr(postgresqls, "DEBIAN", tmp_path)
    assert postgresqls.found({}) == [""]
    assert "15 is not installed" in postgresqls.missing({}, EVERY_VERSION)
    oldest = tmp_path / "15/bin/postgres"
    oldest.parent.mkdir(parents=True)
    oldest.touch()
    assert postgresqls.found({}) == ["", str(oldest.parent)]
    assert postgresqls.missing({}, EVERY_VERSION) == ""


@pytest.mark.parametrize("given", [{"DATABASE_URL": "postgres:///db"}, {"POSTGRESQL_BIN": "/opt/pg/bin"}])
def test_a_server_that_is_given_is_the_only_one(given):
    assert postgresqls.found(given) == [""]
    assert postgresqls.missing(given, EVERY_VERSION) == ""


def test_the_belt_of_a_simulated_fleet_carries_a_job_for_each_of_its_processes_and_waits_for_nobody():
    belt = Belt()
    belt.put([Claimed(2**40 + n, 3, "bench") for n in range(5_000)])
    assert [belt.take() for _ in range(5_001)] == [*((2**40 + n, 3) for n in range(5_000)), None]
    belt.close()
