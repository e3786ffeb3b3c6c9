"""A process of a light worker that has ended is reported when all that it had ended is settled."""

from types import SimpleNamespace

from jobs.worker.light.departures import Departures


def test_the_end_of_a_process_is_reported_after_its_ends_are_settled_together_or_one_by_one():
    reported: list[int] = []
    process, other = SimpleNamespace(pid=11), SimpleNamespace(pid=12)
    departures = Departures(SimpleNamespace(by_pid={}), end=lambda _: None, died=reported.append)
    departures.note(process)
    departures.note(other)
    departures.look(lambda one: one is process)
    assert reported == [12]
    departures.look(lambda one: False)
    assert reported == [12, 11]
    assert not departures
