"""The machine itself, as data: no status without a way out, no way out of a final one."""

import pytest

from jobs.lifecycle import ARROWS, FINAL, HOLDING, WAITING, Status
from jobs.models import WITNESSES


def reachable() -> set[Status | None]:
    found = {arrow.target for arrow in ARROWS if not arrow.sources}
    while more := {arrow.target for arrow in ARROWS if arrow.sources & found} - found:
        found |= more
    return found


def test_every_status_is_waiting_holding_or_final_and_only_one_of_them():
    assert sorted([*WAITING, *HOLDING, *FINAL]) == sorted(Status)


@pytest.mark.parametrize("status", sorted(set(Status) - FINAL))
def test_a_status_that_is_not_final_has_a_way_out(status):
    assert any(status in arrow.sources for arrow in ARROWS)


def test_nothing_leads_out_of_a_success_but_the_archive():
    assert [arrow.verb for arrow in ARROWS if Status.SUCCESS in arrow.sources] == ["archive"]


def test_a_job_that_ended_moves_on_only_when_a_person_wants_it_or_nobody_does():
    moved_on = {arrow.verb for arrow in ARROWS if arrow.sources & FINAL}
    assert moved_on == {"revive", "rejoin", "discard", "expire", "archive"}


def test_every_status_can_be_reached_from_a_submission():
    assert reachable() == {*Status, None}


def test_every_verb_names_one_arrow_and_none_leads_back_to_where_it_comes_from():
    assert len({arrow.verb for arrow in ARROWS}) == len(ARROWS)
    assert not [arrow.verb for arrow in ARROWS if arrow.target in arrow.sources]


def test_each_arrow_of_a_running_job_is_fenced_by_the_attempt():
    assert all(arrow.fenced for arrow in ARROWS if Status.RUNNING in arrow.sources | {arrow.target})


def test_each_status_is_witnessed_by_one_column():
    witnessed = [status for statuses in WITNESSES.values() for status in statuses]
    assert sorted(witnessed) == sorted(Status)


def test_the_slot_witnesses_exactly_those_that_hold_one_and_the_end_exactly_the_final_ones():
    assert WITNESSES["slot"] == HOLDING
    assert WITNESSES["end_time"] == FINAL
