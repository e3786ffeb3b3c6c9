"""The fixtures of `jobs.contrib.testing.plugin`: they give access to the database themselves."""

from tests.factories import ThingFactory


def test_a_delayed_job_runs_once_its_time_has_come(drain_jobs, frozen_time) -> None:
    thing = ThingFactory()
    thing.async_(delay=60).echo()
    assert drain_jobs() == []
    frozen_time.move(60)
    assert len(drain_jobs()) == 1


def test_a_job_returns_its_result(run_job) -> None:
    assert run_job(ThingFactory().async_.echo, 1) == [1]
