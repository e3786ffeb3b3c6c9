"""The only writer of job rows: one function per statement of `sql/`.

Each function reports what it applied. `now` is the clock of a test; None means the database's clock.
"""

from jobs.store import clock
from jobs.store.attempts import cancel_requested, holder, progress, put_off, running_in, start
from jobs.store.checks import excesses, find_lane, heads, odd_states
from jobs.store.claiming import Lane, Pass, claim, claim_within, hold, next_moment, promote, release
from jobs.store.control import (
    backlog,
    cancel,
    create_queue,
    discard,
    expire_dead,
    is_unfinished,
    overdue_cancels,
    request_cancel,
    revive,
)
from jobs.store.history import archive, forget_old, next_to_archive, restore
from jobs.store.leading import database_now, database_time, depose, lead, wake_clock
from jobs.store.memory import Remembering, expire_memories, forget
from jobs.store.owner import EVERY_TENANT, TenantId
from jobs.store.partitions import drop_before as drop_partitions
from jobs.store.partitions import ensure as ensure_partition
from jobs.store.rows import ANY_HOLDER, ANY_PROCESS, Applied, Claimed, Holder, Process, Started
from jobs.store.schedules import (
    DueSchedule,
    Moved,
    Run,
    advance_schedules,
    check_references,
    due_schedules,
    give_back_due_times,
    next_run,
    note_runs,
    take_due_times,
)
from jobs.store.session import OwnSession, session, speak_as_the_caller
from jobs.store.settling import Failure, fail, retry, snooze, stop, succeed, succeed_and_follow, take_back
from jobs.store.statistics import begin_task, end_task, forget_samples, record_hours, record_minutes, record_sample
from jobs.store.submitting import Answer, give_up_key, insert, recount_waiting
from jobs.store.worker_sessions import keep_sessions, session_name
from jobs.store.workers import (
    LIVE_BEATS,
    bar_worker,
    beat,
    count_repairs,
    declare_gone,
    end_sessions,
    hand_over_again,
    leave,
    left_behind,
    orphans,
)

__all__ = [
    "ANY_HOLDER",
    "ANY_PROCESS",
    "EVERY_TENANT",
    "LIVE_BEATS",
    "Answer",
    "Applied",
    "Claimed",
    "DueSchedule",
    "Failure",
    "Holder",
    "Lane",
    "Moved",
    "OwnSession",
    "Pass",
    "Process",
    "Remembering",
    "Run",
    "Started",
    "TenantId",
    "advance_schedules",
    "archive",
    "backlog",
    "bar_worker",
    "beat",
    "begin_task",
    "cancel",
    "cancel_requested",
    "check_references",
    "claim",
    "claim_within",
    "clock",
    "count_repairs",
    "create_queue",
    "database_now",
    "database_time",
    "declare_gone",
    "depose",
    "discard",
    "drop_partitions",
    "due_schedules",
    "end_sessions",
    "end_task",
    "ensure_partition",
    "excesses",
    "expire_dead",
    "expire_memories",
    "fail",
    "find_lane",
    "forget",
    "forget_old",
    "forget_samples",
    "give_back_due_times",
    "give_up_key",
    "hand_over_again",
    "heads",
    "hold",
    "holder",
    "insert",
    "is_unfinished",
    "keep_sessions",
    "lead",
    "leave",
    "left_behind",
    "next_moment",
    "next_run",
    "next_to_archive",
    "note_runs",
    "odd_states",
    "orphans",
    "overdue_cancels",
    "progress",
    "promote",
    "put_off",
    "record_hours",
    "record_minutes",
    "record_sample",
    "recount_waiting",
    "release",
    "request_cancel",
    "restore",
    "retry",
    "revive",
    "running_in",
    "session",
    "session_name",
    "snooze",
    "speak_as_the_caller",
    "start",
    "stop",
    "succeed",
    "succeed_and_follow",
    "take_back",
    "take_due_times",
    "wake_clock",
]
