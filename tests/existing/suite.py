"""A test of that project's own: its job, without a worker."""

import pytest
from letters import new_letter

from jobs.contrib.testing import run

pytestmark = pytest.mark.django_db


def test_a_letter_is_sent():
    letter, answer = new_letter()
    assert run(letter.async_.send, number=1) == f"{answer}: 1"
