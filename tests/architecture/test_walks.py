"""The files that a reader opens, counted from the code. A budget only shrinks."""

import pytest

from tests.architecture.sources import floor
from tests.architecture.walks import Walk, walk

CANCEL = (
    "jobs.engine.verbs.cancel:cancel",  # what portal, pages, command line and API call; the row says it to the worker
    "jobs.worker.children.reconcile:Reconciler.look",  # its thread kills the process
    "jobs.worker.children.delivery:AttemptRequest.on_failure",  # Celery hears of the death
    "jobs.worker.children.reports:Reports.report",  # a thread tells PostgreSQL
)
NOT_A_CANCEL = (
    "jobs.engine.door.dispatch:on_commit",  # what is free now, another walk gives away
    "jobs.engine.door.dispatch:request",
    "jobs.engine.upkeep.recover:time_out",  # ends of other kinds
    "jobs.engine.upkeep.recover:take_back_unheld",
    "jobs.engine.upkeep.wanted_back:wanted_back",
    "jobs.worker.children.running_table:RunningTable.ask_back",
    "jobs.engine.deaths.announce:announce",
    "jobs.store.leading:wake_clock",
    "jobs.worker.children.reconcile:Reconciler._tell_stack",
)

NOT_A_SCHEDULE = ("jobs.engine.submitting.submit:submit_all", "jobs.engine.verbs.cancel:cancel")
OTHER_PROCESSES = ("jobs.apps", "jobs.management", "jobs.worker.bootstrap", "jobs.engine.door.dispatcher")


def described(walked: Walk) -> str:
    """For a failure: what was opened, and what was unnatural."""
    return "\n".join(
        [*walked.opened, *(f"climb {one}" for one in walked.climbs), *(f"return {one}" for one in walked.returns)]
    )


def test_the_cancel_of_a_running_job_until_its_process_is_killed_and_settled_opens_few_files() -> None:
    walked = walk(*CANCEL, beyond=NOT_A_CANCEL)
    assert "jobs/sql/settling/take_back.sql" in walked.files, "the walk is cut off"
    assert len(walked.opened) <= 33, described(walked)


def test_a_limit_that_changes_is_seen_by_a_claim_after_few_files() -> None:
    """In between, triggers tell the next fold (docs/architecture.md, "What a trigger says to whom")."""
    walked = walk("jobs.engine.verbs.limits:store", "jobs.engine.door.dispatch:dispatch")
    assert "jobs/sql/claiming/claim/room.sql" in walked.chapters, "the walk is cut off"
    assert len(walked.opened) <= 70, described(walked)  # five are for budgets: who is held, and who is released


def test_a_schedule_that_is_due_submits_its_job_after_few_files() -> None:
    walked = walk("jobs.engine.schedules.run:run_due", beyond=NOT_A_SCHEDULE)
    assert "jobs/sql/schedules/take.sql" in walked.files, "the walk is cut off"
    assert len(walked.opened) <= 26, described(walked)


CLEANING, JUDGING = "jobs.engine.attempt.execute:_is_clean", "jobs.engine.attempt.settle:judge"
AWAITING = "jobs.engine.attempt.threads:Threads.of_a_body"  # a part of the cleaning, which is within the body's block


def test_one_attempt_in_a_worker_from_start_to_next_dispatch_goes_down() -> None:
    walked = walk(
        "jobs.engine.attempt.execute:execute", beyond=(CLEANING, AWAITING, JUDGING), elsewhere=OTHER_PROCESSES
    )
    assert {"jobs/engine/attempt/settle.py", "jobs/sql/claiming/claim.sql"} <= {*walked.files}, "the walk is cut off"
    assert len(walked.climbs) <= 6, described(walked)
    assert len(walked.returns) <= 7, described(walked)


@pytest.mark.parametrize(
    ("start", "through", "climbs", "returns"),
    [
        (CLEANING, "jobs/engine/attempt/threads.py", 1, 2),
        (JUDGING, "jobs/engine/attempt/failures.py", 0, 3),
    ],
)
def test_the_walk_from_the_end_of_a_body_goes_down(start, through, climbs, returns) -> None:
    walked = walk(start, elsewhere=OTHER_PROCESSES)
    assert through in walked.files, "the walk is cut off"
    assert len(walked.climbs) <= climbs, described(walked)
    assert len(walked.returns) <= returns, described(walked)


def test_a_hook_is_followed_to_the_higher_floor_where_it_was_given() -> None:
    walked = walk("jobs.engine.attempt.execute:_keeper")
    assert "jobs/worker/children/running_table.py" in walked.files
    assert "jobs.worker.children.child" in {to for _, to in walked.climbs}, "the host of a worker"


def test_a_statement_is_one_file_with_its_chapters() -> None:
    walked = walk("jobs.store.control:cancel")
    assert "jobs/sql/control/cancel.sql" in walked.files
    assert "jobs/sql/shared/freed.sql" in walked.chapters


def test_a_module_stands_above_what_it_imports() -> None:
    assert floor("jobs.engine.attempt.execute") > floor("jobs.engine.attempt.settle") > floor("jobs.store.settling")


def test_an_unknown_start_is_refused() -> None:
    with pytest.raises(ValueError, match="no function"):
        walk("jobs.engine.verbs.cancel:nothing")
