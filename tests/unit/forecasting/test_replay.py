"""A replay of a record: what was, by the rules of the claim; what would have been; and how far off it is."""

from dataclasses import replace

import pytest

from jobs.allocation.world import IdleGaps
from jobs.insight.forecasting.replay.compare import compare
from jobs.insight.forecasting.replay.idle_gaps import BETWEEN, HANDOVER, idle_gaps
from jobs.insight.forecasting.replay.limits import books_of
from jobs.insight.forecasting.replay.record import POOL, QUEUE, TENANT, WARM, Change, PastAttempt, Record
from jobs.insight.forecasting.replay.replay import Replay, again

NOTHING = IdleGaps(between=0.0, handover=0.0)
ADA, BOB = 1, 2
RUNS = 10.0


def past(job: int, ready: float, started: float | None, ended: float | None, tenant: int = ADA, **facts) -> PastAttempt:
    known = {"user": "", "job_type": "a.b", "good": True, "process": None, "left_at": None, "claimed_at": started}
    place = (5 << 58) + job
    return PastAttempt(
        **{"job_id": job, "tenant_id": tenant, "queue_id": 1, "place": place, "ready_at": ready},
        **{"started_at": started, "ended_at": ended} | known | facts,
    )


def record(
    *found: PastAttempt,
    slots: int = 1,
    processes: int = 9,
    seats: int | None = None,
    changes: tuple[Change, ...] = (),
    **facts,
) -> Record:
    begin = -2 * WARM
    limits = [Change(begin, TENANT, pk, {"num_slots": slots, "weight": 1, "paused": False}) for pk in (ADA, BOB)]
    limits += [Change(begin, QUEUE, 1, {"name": "q", "pool": "p", "weight": 1, "paused": False, "concurrency": None})]
    limits += [Change(begin, POOL, "p", {"processes": processes, "seats": seats, "leaving": 0})]
    return Record(100.0, found, [*limits, *changes], **facts)


def in_turn(jobs: int, tenant: int = ADA) -> list[PastAttempt]:
    """They came together, and ran one after the other."""
    return [past(n, 0.0, RUNS * n, RUNS * (n + 1), tenant) for n in range(jobs)]


def waits(found: Record, hypothesis=None) -> list[float | None]:
    return [None if one is None else round(one, 3) for one in Replay(found, NOTHING, hypothesis or {}).waits()]


def test_a_record_is_replayed_as_it_was():
    assert waits(record(*in_turn(4))) == [0.0, 10.0, 20.0, 30.0]


@pytest.mark.parametrize(
    ("hypothesis", "would_be"),
    [
        ({(TENANT, ADA): {"num_slots": 2}}, [0.0, 0.0, 10.0, 10.0]),
        ({(TENANT, ADA): {"num_slots": 4}, (POOL, "p"): {"processes": 2}}, [0.0, 0.0, 10.0, 10.0]),
        ({(TENANT, ADA): {"num_slots": 4}, (QUEUE, 1): {"concurrency": 1}}, [0.0, 10.0, 20.0, 30.0]),
        ({(TENANT, ADA): {"num_slots": 4}, (QUEUE, 1): {"tenant_slots": 2}}, [0.0, 0.0, 10.0, 10.0]),
        (
            {(TENANT, ADA): {"num_slots": 4, "queue_slots": {"q": 1}}, (QUEUE, 1): {"tenant_slots": 2}},
            [0.0, 10.0, 20.0, 30.0],
        ),
        ({(TENANT, ADA): {"rate_limit": 1, "rate_window": 30.0}}, [0.0, 30.0, 60.0, 90.0]),
        ({(TENANT, ADA): {"paused": True}}, [None, None, None, None]),
    ],
    ids=[
        "slots",
        "processes",
        "concurrency",
        "slots of all in the queue",
        "slots of one in the queue",
        "rate",
        "pause",
    ],
)
def test_other_limits_hold_from_the_windows_begin_on(hypothesis, would_be):
    assert waits(record(*in_turn(4)), hypothesis) == would_be


def test_the_limits_that_were_would_have_done_what_is_replayed():
    """Also where the replay is off what was."""
    apart = [past(n, 0.0, RUNS * n, RUNS * (n + 1) - 0.5) for n in range(4)]
    found = compare(record(*apart, past(9, 3.0, 3.0, 9.0, BOB)), NOTHING, {(TENANT, ADA): {"num_slots": 1}})
    assert found.error.mean > 0.0
    assert [line.changed for line in found.lines] == [line.replayed for line in found.lines]


@pytest.mark.parametrize(
    ("pool", "would_be"),
    [
        ({}, [0.0, 0.0, 10.0, 10.0, 20.0, 20.0]),
        ({"processes": 3}, [0.0] * 6),
        ({"seats": 4}, [0.0] * 4 + [10.0] * 2),
        ({"processes": 1, "seats": 1}, [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]),
    ],
    ids=["as it was", "processes", "seats", "both"],
)
def test_a_light_pool_has_seats_in_each_process_and_keeps_those_that_a_question_leaves_out(pool, would_be):
    found = record(*in_turn(6), slots=9, processes=1, seats=2)
    assert [round(wait, -1) for wait in waits(found, {(POOL, "p"): pool})] == would_be


def test_jobs_of_workers_that_stop_take_no_seats_of_the_others():
    drained = Change(5.0, POOL, "p", {"processes": 1, "seats": 1, "leaving": 2})
    found = record(*in_turn(4), slots=9, processes=1, seats=2, changes=(drained,))
    assert waits(found) == [0.005, 0.005, 5.005, 10.02], "a seat has short pauses, whatever those of a process are"
    assert [round(wait) for wait in waits(found, {(POOL, "p"): {"seats": 3}})] == [0, 0, 0, 5]


def test_weights_share_what_is_short():
    found = record(*in_turn(8), *(past(10 + n, 0.0, 1.0, 11.0, BOB) for n in range(8)), slots=9, processes=2)
    even, heavy = waits(found), waits(found, {(TENANT, BOB): {"weight": 7}})
    assert sum(heavy[8:]) < sum(even[8:])
    assert sum(heavy[:8]) > sum(even[:8])


def test_limits_change_in_the_replay_when_they_did_and_not_where_they_would_be_others():
    found = record(*in_turn(4), changes=(Change(15.0, TENANT, ADA, {"num_slots": 3, "weight": 1, "paused": False}),))
    assert waits(found) == [0.0, 10.0, 15.0, 15.0]
    assert waits(found, {(TENANT, ADA): {"num_slots": 1}}) == [0.0, 10.0, 20.0, 30.0]


def test_a_retry_comes_as_long_after_the_attempt_before_as_it_did():
    first, again = past(1, 0.0, 20.0, 30.0, good=False), past(1, 35.0, 35.0, 45.0)
    blocker = past(0, 0.0, 0.0, 20.0)
    assert waits(record(blocker, first, again)) == [0.0, 20.0, 0.0]
    sooner = record(blocker, first, again, past(2, 0.0, 45.0, 55.0))
    assert waits(sooner, {(TENANT, ADA): {"num_slots": 2}}) == [0.0, 0.0, 5.0, 10.0], "it came at 15"


def test_a_job_follows_in_the_slot_of_one_that_ended_well_and_of_no_other():
    short = [past(1, 0.0, 0.0, 0.05), past(2, 0.0, 0.05, 0.08, good=False), past(3, 0.0, 5.08, 6.0)]
    found = Replay(record(*short), IdleGaps(between=5.0, handover=0.0)).waits()
    assert found == [0.0, pytest.approx(0.05), pytest.approx(5.08)]


def test_a_job_that_waited_for_others_comes_after_the_last_of_them():
    found = record(*in_turn(2), past(5, 21.0, 21.0, 31.0, BOB), after={5: [0, 1, 99]})
    jobs = Replay(found, NOTHING, {(TENANT, ADA): {"num_slots": 2}}).waits()
    assert jobs[2] == 0.0
    blocked = record(*in_turn(2), past(5, 21.0, 21.0, 31.0), past(6, 12.0, 31.0, 41.0), after={5: [0, 1]})
    assert waits(blocked, {(TENANT, ADA): {"num_slots": 2}}) == [0.0, 0.0, 0.0, 0.0], "it came at 11"


def test_a_job_that_waited_for_a_retried_one_comes_after_its_last_attempt_in_whatever_order_they_are_read():
    attempts = past(1, 20.0, 20.0, 30.0), past(1, 0.0, 0.0, 10.0, good=False)
    found = record(past(5, 35.0, 35.0, 45.0, BOB), *attempts, after={5: [1]})
    books, _ = books_of(found, {})
    assert [job.delay for job in again(found, books)] == [5.0, 10.0, 0.0]


def test_a_queue_that_was_deleted_before_is_closed():
    found = record(replace(past(1, 0.0, 0.0, 1.0), queue_id=2), changes=(Change(-2 * WARM, QUEUE, 2, None),))
    assert waits(found) == [None]


def test_a_job_that_left_the_line_leaves_it_unless_it_would_have_started_before():
    found = record(*in_turn(2), past(7, 0.0, None, None, left_at=15.0), past(8, 0.0, 20.0, 30.0))
    assert waits(found) == [0.0, 10.0, None, 20.0]
    assert waits(found, {(TENANT, ADA): {"num_slots": 3}}) == [0.0, 0.0, None, 10.0], "the third slot was taken"


def test_jobs_that_ran_or_waited_at_the_begin_of_the_warm_up_are_there():
    early = past(1, -WARM - 50, -WARM - 20, 5.0)
    assert waits(record(early, past(2, -WARM - 10, 5.0, 15.0), past(3, 1.0, 15.0, 25.0))) == [None, None, 14.0]


def test_users_with_slots_in_use_at_the_begin_are_counted():
    changes = (Change(-2 * WARM, TENANT, ADA, {"num_slots": 2, "user_slots": 1}),)
    early = past(1, -WARM - 50, -WARM - 20, 5.0, user="a")
    found = record(early, past(2, 0.0, 5.0, 15.0, user="a"), past(3, 0.0, 0.0, 30.0, user="b"), changes=changes)
    assert waits(found) == [None, 5.0, 0.0]


def test_an_answer_has_the_error_of_the_replay_and_the_lines_of_each_tenant():
    found = compare(record(*in_turn(4), past(9, 0.0, 0.0, 10.0, BOB)), NOTHING, {(TENANT, ADA): {"num_slots": 4}})
    assert (found.attempts, found.knows, found.error.mean) == (5, True, pytest.approx(0.0))
    ada, bob = found.lines
    assert (ada.slot_seconds, bob.slot_seconds) == (40.0, 10.0)
    assert (ada.recorded.mean, ada.replayed.mean, ada.changed.mean, ada.noticeable) == (15.0, 15.0, 0.0, True)
    assert (bob.changed.mean, bob.noticeable) == (0.0, False)


def test_a_replay_that_is_too_far_off_gives_no_answer():
    late = [past(n, 0.0, 50.0 + RUNS * n, 60.0 + RUNS * n) for n in range(4)]  # nothing in the record held them back
    found = compare(record(*late), NOTHING, {(TENANT, ADA): {"num_slots": 4}})
    assert not found.knows
    assert found.error.mean > 0.5
    assert [line.changed for line in found.lines] == [None]


def test_attempts_without_known_limits_are_counted_as_not_replayed():
    found = compare(record(past(1, 0.0, 0.0, 1.0, tenant=77)), NOTHING, {})
    assert (found.attempts, found.unreplayed, found.error) == (0, 1, None)


def test_the_pause_between_attempts_is_that_of_processes_that_had_work():
    busy = [past(n, 0.0, 10.03 * n, 10.03 * n + 10.0, process=3, claimed_at=10.03 * n - 0.01) for n in range(40)]
    idle = [
        past(100 + n, 50.0 * n, 50.0 * n + 1, 50.0 * n + 2, process=4, claimed_at=50.0 * n + 0.99) for n in range(60)
    ]
    found = idle_gaps([*busy, *idle])
    assert (found.handover, found.between) == (pytest.approx(0.01), pytest.approx(0.02))
    assert idle_gaps(busy[:5]).between == BETWEEN


def test_attempts_of_a_light_pool_tell_no_pause_since_many_run_in_a_process_at_once():
    beside = [past(n, 0.0, 2.0 * n, 2.0 * n + 0.5, process=3, claimed_at=2.0 * n - 0.3) for n in range(40)]
    found = record(*beside, seats=40)
    assert idle_gaps(beside).between == pytest.approx(1.2), "so it would be in an ordinary pool"
    assert idle_gaps(beside, found.light_queues()) == IdleGaps(between=BETWEEN, handover=HANDOVER)
    assert record(*beside).light_queues() == set()
