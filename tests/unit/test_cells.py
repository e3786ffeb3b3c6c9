"""The simulation of cells: what it counts as a wait, how it divides, and that docs/sizing.md shows its figures."""

import pytest

from benchmarks import cells
from embedded import REPOSITORY
from tests.thorough import only_thorough


def test_a_job_waits_for_a_process_only_while_its_tenant_has_a_slot():
    # One tenant of two slots, five processes: the third job waits for a slot of its own, not for a process.
    assert cells.run([0.5], [[(0.0, 10.0), (0.0, 10.0), (0.0, 10.0)]], 5) == [0.0, 0.0, 0.0]
    assert cells.run([0.5], [[(0.0, 10.0), (0.0, 10.0)]], 1) == [0.0, 10.0]


def test_a_free_process_serves_the_tenant_that_was_served_least():
    big, small = [(0.0, 10.0)] * 3, [(1.0, 1.0)]
    assert cells.run([1.0, 1.0], [big, small], 1) == [0.0, 9.0, 11.0, 21.0]  # the small one second


@pytest.mark.parametrize("balanced", [True, False])
def test_every_tenant_is_in_one_cell(balanced):
    loads = cells.shares(64)
    assert sum(loads) == pytest.approx(64)
    divided = cells.divide(loads, 4, balanced=balanced)
    assert sorted(one for members in divided for one in members) == list(range(cells.TENANTS))


def test_a_division_by_load_is_even_while_no_tenant_is_larger_than_a_cell():
    for number in (2, 4):
        loads = cells.shares(1.0)
        sums = [sum(loads[one] for one in members) for members in cells.divide(loads, number, balanced=True)]
        assert max(sums) - min(sums) < 0.01
    assert max(loads) > 1 / 8


@only_thorough  # half a minute
def test_the_page_shows_the_figures_that_the_simulation_gives():
    assert cells.table() in (REPOSITORY / "docs/sizing.md").read_text()
