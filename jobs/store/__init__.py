"""The only writer of job rows: one function per statement of `sql/`.

Each reports what it applied. `now` is the clock of a test; None is the database's own.
"""

from jobs.store.attempts import (
    ANY_PROCESS,
    Failure,
    Process,
    cancel_requested,
    fail,
    holder,
    progress,
    put_off,
    retry,
    snooze,
    start,
    stop,
    succeed,
    take_back,
)
from jobs.store.checks import excesses, find_lane, heads, odd_states
from jobs.store.claiming import Lane, claim, hold, next_moment, promote, release
from jobs.store.rows import Applied, Claimed, Started, live_for
from jobs.store.submitting import Answer, insert, recount_waiting, release_identical, wake_clock
from jobs.store.wishes import (
    backlog,
    cancel,
    discard,
    expire_dead,
    is_unfinished,
    overdue_cancels,
    request_cancel,
    revive,
)
from jobs.store.workers import beat, count_repairs, declare_gone, depose, give_up, hand_over_again, leave, orphans

__all__ = [
    "ANY_PROCESS",
    "Answer",
    "Applied",
    "Claimed",
    "Failure",
    "Lane",
    "Process",
    "Started",
    "backlog",
    "beat",
    "cancel",
    "cancel_requested",
    "claim",
    "count_repairs",
    "declare_gone",
    "depose",
    "discard",
    "excesses",
    "expire_dead",
    "fail",
    "find_lane",
    "give_up",
    "hand_over_again",
    "heads",
    "hold",
    "holder",
    "insert",
    "is_unfinished",
    "leave",
    "live_for",
    "next_moment",
    "odd_states",
    "orphans",
    "overdue_cancels",
    "progress",
    "promote",
    "put_off",
    "recount_waiting",
    "release",
    "release_identical",
    "request_cancel",
    "retry",
    "revive",
    "snooze",
    "start",
    "stop",
    "succeed",
    "take_back",
    "wake_clock",
]
