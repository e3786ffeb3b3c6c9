"""Tables, constraints, indexes; no behaviour."""

from jobs.models.awaiting import JobEdge, JobEnd
from jobs.models.batch import Batch, BatchCancel, BatchTally
from jobs.models.changes import LeftLine, LimitChange, PoolChange
from jobs.models.dispatch import Arrival, Door, FreedSlot, Hold, Lane, QueueTurn, SpentBudget, TenantBook
from jobs.models.event import JobEvent
from jobs.models.forecast import Calibration, Forecast, Prediction, PredictionTotal
from jobs.models.history import AnyFailedAttempt, AnyJob, ArchivedJob
from jobs.models.job import (
    ERASED,
    EXPIRED,
    HELD_UNTIL,
    NEIGHBOUR_ENDED,
    NO_FAULT,
    SHARED_DEATH,
    UNKNOWN_JOB_TYPE,
    UNTOLD,
    WITNESSES,
    WORKER_STOPPED,
    DeadLetter,
    FailedAttempt,
    Job,
    JobRow,
)
from jobs.models.log import JobLog
from jobs.models.memory import MAX_BYTES, JobMemory
from jobs.models.operations import BlockedLoop, DeathNotice, KeptAnswer, Pool, Repair, Server, Worker
from jobs.models.queue import PausedJobType, Queue
from jobs.models.schedule import Schedule, ScheduleRun
from jobs.models.stack import Stack
from jobs.models.statistics import (
    Attempt,
    FullHour,
    JobMinute,
    Recorded,
    Sample,
    SlotHour,
    TenantHour,
    TenantShare,
    Total,
)
from jobs.models.usage import ClosedDay, SlotPeak, UsageDay
from jobs.models.webhook import WebhookEndpoint, WebhookHour, WebhookMessage
from jobs.models.what_if import WhatIf

__all__ = ["Job", "Queue", "Schedule"]  # what a project may name; the others are for `jobs` alone
