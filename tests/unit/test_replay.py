"""The replay of recorded tasks: who waits, by the rules of slots and fair turns."""

import pytest

from tools.celery_replay.replay import Compared, Seen, Waits, compare, peak, read, replay


def seen(tenant: str, ready: float, seconds: float, wait: float = 0.0) -> Seen:
    return Seen(tenant, ready, ready + wait, ready + wait + seconds)


class TestReplay:
    def test_alone_nobody_waits(self):
        assert replay([seen("a", 0, 1), seen("a", 5, 1)], processes=1, slots={}) == [0, 0]

    def test_one_process_runs_one_after_the_other(self):
        assert replay([seen("a", 0, 2)] * 3, processes=1, slots={}) == [0, 2, 4]

    def test_more_processes_run_more_at_once(self):
        assert replay([seen("a", 0, 2)] * 3, processes=2, slots={}) == [0, 0, 2]

    def test_slots_hold_a_tenant_back_though_processes_are_free(self):
        assert replay([seen("a", 0, 2)] * 3, processes=9, slots={"a": 1}) == [0, 2, 4]
        assert replay([seen("a", 0, 2)] * 3, processes=9, slots=1) == [0, 2, 4]

    def test_slots_of_one_are_not_those_of_another(self):
        tasks = [seen("a", 0, 2), seen("a", 0, 2), seen("b", 0, 2), seen("b", 0, 2)]
        assert replay(tasks, processes=9, slots={"a": 1}) == [0, 2, 0, 0]

    def test_a_tenant_behind_a_burst_of_another_is_served_next(self):
        tasks = [seen("burst", 0, 1) for _ in range(100)] + [seen("small", 0.5, 1)]
        waits = replay(tasks, processes=1, slots={})
        assert waits[-1] == 0.5
        assert max(waits) == 100

    def test_two_with_work_throughout_get_the_same_time(self):
        tasks = [seen("long", 0, 4) for _ in range(10)] + [seen("short", 0, 1) for _ in range(40)]
        waits = replay(tasks, processes=1, slots={})
        halves = [wait for wait in waits[10:] if wait < 40]
        assert 18 <= len(halves) <= 22

    def test_idleness_earns_no_credit(self):
        """Else who was away for an hour would hold the others up for an hour."""
        busy = [seen("busy", n, 1) for n in range(100)]
        back = [seen("back", 50, 1) for _ in range(50)]
        waits = replay([*busy, *back], processes=1, slots={})
        assert max(waits[50:60]) < 30

    def test_the_order_of_the_record_does_not_matter(self):
        tasks = [seen("a", 3, 1), seen("a", 0, 2), seen("b", 1, 2)]
        assert replay(tasks, processes=1, slots={}) == [1, 0, 1]

    def test_no_tasks_no_waits(self):
        assert replay([], processes=1, slots={}) == []
        assert peak([]) == 0


def test_the_peak_is_the_most_at_once_and_ends_count_before_beginnings():
    assert peak([seen("a", 0, 2), seen("a", 1, 2), seen("a", 2, 1)]) == 2


def test_the_comparison_is_by_tenant_the_busiest_first():
    tasks = [seen("a", 0, 1, wait=5), seen("b", 0, 3, wait=1), seen("a", 0, 1, wait=7)]
    assert compare(tasks, [0.0, 2.0, 1.0]) == [
        Compared("b", 1, 3.0, Waits(1, 1, 1), Waits(2, 2, 2)),
        Compared("a", 2, 2.0, Waits(5, 7, 7), Waits(0, 1, 1)),
    ]


@pytest.mark.parametrize("line", ["", "{}", "[1]", '{"tenant": "a", "ready": "x", "started": 1, "ended": 2}'])
def test_a_line_that_is_no_record_is_named(line):
    good = '{"tenant": "a", "ready": 1, "started": 2, "ended": 3}'
    with pytest.raises(ValueError, match="line 2 is no record of a task"):
        list(read([good, line]))
