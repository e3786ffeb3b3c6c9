"""A process of a light worker that has ended is reported when all that it had ended is settled."""

from types import SimpleNamespace

from jobs.worker.light.departures import Departures


def test_the_end_of_a_process_is_reported_after_its_ends_are_settled_together_or_one_by_one():
    reported: list[tuple[int, list]] = []
    process, other = SimpleNamespace(pid=11, held={(1, 1): 0, (2, 1): 0}), SimpleNamespace(pid=12, held={})
    departures = Departures(SimpleNamespace(by_pid={}), end=lambda _: None, died=lambda *told: reported.append(told))
    departures.note(process)
    departures.note(other)
    departures.look(lambda one: one is process)
    assert reported == [(12, [])]
    del process.held[2, 1]  # its end was settled
    departures.look(lambda one: False)
    assert reported == [(12, []), (11, [(1, 1)])]
    assert not departures
