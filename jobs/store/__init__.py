"""The only writer of job rows: one function per statement of `sql/`.

Each function reports what it applied. What is imported here is for all of `jobs`: `store.claim(...)`.
"""

from jobs.store import clock
from jobs.store.attempts import (
    cancel_requested,
    checkpoint,
    has_succeeded,
    keep_log,
    progress,
    put_off,
    running_in,
    running_in_all,
    start,
    still_running,
    turn_away,
    unknown_for,
)
from jobs.store.awaiting import Edge, is_news, note_edges, note_sequences, read_ends, unknown
from jobs.store.away import may_pass
from jobs.store.batches import (
    Progress,
    begin_cancel,
    close_batch,
    close_forgotten,
    forget_batches,
    grow_batch,
    open_batch,
    read_batch,
    read_batches,
    waiting_for,
)
from jobs.store.budgets import settle_budgets
from jobs.store.claiming import FreeSeats, Keeper, claim, claim_within, forget_lanes, plan, tidy_turns, worth_a_pass
from jobs.store.control import backlog, cancel, create_queue, discard, expire_dead, lapse, request_cancel, revive
from jobs.store.due import hold, hold_spent, next_moment, promote, release
from jobs.store.events import tell
from jobs.store.history import archive, forget_old, next_to_archive, restore
from jobs.store.holds import WHOLE_QUEUE, open_line
from jobs.store.inspection import excesses, find_lane, heads, odd_states, open_lanes, recount_books, wrong_books
from jobs.store.leading import clear_door, database_now, database_time, depose, lead, wake_clock
from jobs.store.lock_wait import briefly
from jobs.store.messages import ring
from jobs.store.owner import EVERY_TENANT, TenantId
from jobs.store.rows import ANY_SEAT, Claimed, Holder, Pass, Seat, Started
from jobs.store.schedules import (
    DueSchedule,
    advance_schedules,
    due_schedules,
    give_back_due_times,
    next_run,
    note_look,
    note_runs,
    take_due_times,
)
from jobs.store.session import OwnSession, is_of_the_engine, session, speak_as_the_caller
from jobs.store.settling import (
    End,
    Ending,
    Failure,
    fail,
    hand_back,
    retry,
    snooze,
    stop,
    succeed,
    succeed_and_follow,
    take_back,
    wait_for,
)
from jobs.store.stacks import STACK_LATE, answer_stack, ask_stack
from jobs.store.submitting import (
    Answer,
    GoingOn,
    debounce,
    gather,
    give_up_key,
    hasten,
    insert,
    lock_identities,
    make_way,
    outdate,
    prolong,
    recount_waiting,
    replace,
)
from jobs.store.trips import MOST, Success, Trip, is_suspect, note_in_hand
from jobs.store.worker_sessions import keep_sessions, name_sessions, session_name
from jobs.store.workers import (
    LIVE_BEATS,
    RunningHere,
    Stoppable,
    another_reaches_broker,
    bar_worker,
    beat,
    count_repairs,
    declare_gone,
    end_sessions,
    hand_over_again,
    has_sessions_beside,
    leave,
    leave_to_leader,
    left_behind,
    orphans,
    running_here,
    wanted_back,
)
