"""What a body says it has used is checked when it says it."""

import pytest

from jobs import current_job, job
from jobs.authoring.current import CurrentJob


def test_amounts_add_up_and_nothing_is_none():
    running = CurrentJob()
    assert running.units.sums() is None
    running.used(tokens=3, pages=1)
    running.used(tokens=4)
    assert running.units.sums() == {"tokens": 7, "pages": 1}
    current_job().used(tokens=1)  # outside a job: discarded


@pytest.mark.parametrize(
    ("amounts", "why"),
    [
        ({"tokens": -1}, "tokens.*whole number from 0.*-1"),
        ({"tokens": 1.5}, "tokens.*1.5"),
        ({"tokens": True}, "tokens.*True"),
        ({"tokens": "9"}, "tokens.*'9'"),
        ({"tokens": 10**15 + 1}, "tokens"),
        ({"Tokens": 1}, "'Tokens' is no name.*a-z"),
        ({"t" * 41: 1}, "no name"),
        ({f"unit_{n}": 1 for n in range(9)}, "10 units are too many: at most 8"),
    ],
)
def test_a_wrong_amount_or_name_is_refused_by_name_and_nothing_of_the_call_counts(amounts, why):
    running = CurrentJob()
    running.used(tokens=1)
    with pytest.raises(ValueError, match=why):
        running.used(**{"tokens": 5} | amounts)
    assert running.units.sums() == {"tokens": 1}


@pytest.mark.parametrize("units", ["tokens", ("Tokens",), (7,), tuple(f"unit_{n}" for n in range(9))])
def test_a_job_type_with_wrong_units_is_refused(units):
    with pytest.raises(TypeError, match="units are names such as"):
        job(units=units)
