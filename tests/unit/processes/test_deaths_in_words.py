"""How a process died is said in one way, whoever noticed it."""

import pytest

from jobs.worker.children.delivery import in_words


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("Worker exited prematurely: signal 9 (SIGKILL) Job: 311.", "its process was ended by SIGKILL"),
        ("Worker exited prematurely: exitcode 9 Job: 311.", "its process ended with status 9"),
        ("no outcome could be written", "no outcome could be written"),
    ],
)
def test_billiards_number_of_a_task_is_not_told_as_that_of_a_job(error, told):
    assert in_words(error) == told
