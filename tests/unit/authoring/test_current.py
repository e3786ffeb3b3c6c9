"""`current_job()`, in a job and outside of one."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial

import pytest

from jobs import current_job
from jobs.authoring import current
from jobs.authoring.current import CurrentJob


@pytest.fixture
def said():
    """A running job; the list of what it reports."""
    reports: list[tuple[float, str]] = []
    token = current.enter(CurrentJob(id=7, attempt=2, report_progress=lambda *report: reports.append(report)))
    yield reports
    token.var.reset(token)


def test_outside_a_job_there_is_a_stand_in_that_forgets_what_it_is_told():
    job = current_job()
    assert (job.id, job.attempt, job.tenant, job.timeout) == (None, 0, None, None)
    job.progress(0.5, "half")
    job.stats["rows"] = 3
    assert current_job().stats == {}


def test_inside_a_job_it_is_that_job_and_its_stats_stay(said):
    current_job().stats["rows"] = 3
    assert (current_job().id, current_job().attempt, current_job().stats) == (7, 2, {"rows": 3})


def test_after_the_job_it_is_the_stand_in_again():
    token = current.enter(CurrentJob(id=7))
    token.var.reset(token)
    assert current_job().id is None


@pytest.mark.parametrize(("told", "shown"), [(-1, 0.0), (0, 0.0), (0.25, 0.25), (1, 1.0), (7, 1.0)])
def test_progress_is_kept_between_nothing_and_all(said, told, shown):
    current_job().progress(told)
    assert said == [(shown, "")]


def test_progress_that_is_no_number_says_nothing(said):
    current_job().progress(float("nan"))
    assert said == []


def test_characters_that_postgresql_cannot_hold_are_replaced_in_a_note(said):
    current_job().progress(0, "nul \x00")
    assert said == [(0.0, "nul \N{REPLACEMENT CHARACTER}")]


def test_a_note_is_cut_to_what_can_be_stored(said):
    current_job().progress(0.5, "n" * 201)
    assert said == [(0.5, "n" * 200)]


def test_another_thread_is_not_in_the_job(said):
    seen: list[int | None] = []
    thread = threading.Thread(target=lambda: seen.append(current_job().id))
    thread.start()
    thread.join()
    assert seen == [None]


class TestInAThread:
    @pytest.fixture
    def in_a_thread(self):
        with ThreadPoolExecutor(1) as pool:
            yield lambda call: pool.submit(call).result()

    def test_a_thread_of_a_body_gets_an_error_that_names_the_ways_and_no_stand_in(self, said, in_a_thread):
        with CurrentJob(id=8).here():
            with pytest.raises(RuntimeError, match=r"run = current_job\(\).*copy_context\(\)\.run"):
                in_a_thread(current_job)
            run = current_job()
            in_a_thread(lambda: run.progress(0.5, "by a variable"))
            in_a_thread(partial(copy_context().run, lambda: current_job().progress(0.7, "by a context")))
        assert said == [(0.5, "by a variable"), (0.7, "by a context")]

    def test_a_job_that_an_earlier_context_left_is_not_the_present_one(self, in_a_thread):
        earlier = copy_context()
        earlier.run(current.enter, CurrentJob(id=6))
        with CurrentJob(id=8).here():
            assert in_a_thread(partial(earlier.run, lambda: current_job().id)) == 6

    def test_a_submit_in_a_thread_has_no_caller(self, said, in_a_thread):
        with CurrentJob(id=8).here():
            assert in_a_thread(lambda: current.caller().id) is None
            assert current.caller().id == 7
