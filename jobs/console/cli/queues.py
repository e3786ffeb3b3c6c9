"""`manage.py queues list | stats | add | pause | resume | set | open`. A dispatch follows a change at once."""

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from jobs.calls.refusals import InvalidRequest
from jobs.console.cli import limits
from jobs.console.cli.screen import Column, Screen, count, length, rate, utc
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations import pools
from jobs.console.operations.limits import OF_QUEUE
from jobs.console.operations.named import queue_named, tenant_named
from jobs.engine.verbs.open_line import open_line
from jobs.models import Queue
from jobs.reading import last_day, present
from jobs.reading.statistics import Summary
from plumbing.text import about

SETTINGS = [limit for limit in OF_QUEUE if limit.name != "paused"]  # pause and resume are commands


def _target(line: dict[str, Any]) -> str | None:
    return None if line["wait_target"] is None else f"{line['wait_target']:.15g}s"


def _timeout(line: dict[str, Any]) -> str | None:
    return None if line["default_timeout"] is None else f"{line['default_timeout']:.15g}s"


COLUMNS = [
    Column("QUEUE", "name", flexible=True),
    Column("POOL", "pool"),
    Column("WEIGHT", "weight", right=True),
    Column("IN USE", "in_use", right=True),
    Column("LIMIT", "concurrency", right=True),
    Column("OF A TENANT", "tenant_slots", right=True, wide=True),
    Column("WAITING", lambda line: about(line["waiting"], line["waiting_about"]), right=True),
    Column("TARGET", _target, right=True, wide=True),
    Column("RATE", lambda line: rate(line["rate_limit"], line["rate_window"]), right=True),
    Column("TIMEOUT", _timeout, right=True, wide=True),
    Column("RETRIES", "default_max_retries", right=True, wide=True),
    Column("STATE", "state"),
]


def _ended(title: str, *outcomes: str, wide: bool = False) -> Column:
    return Column(
        title, lambda line: count(sum(line[1].outcomes[outcome] for outcome in outcomes)), right=True, wide=wide
    )


STATISTICS: list[Column] = [  # of a name and its summary
    Column("QUEUE", lambda line: line[0], flexible=True),
    _ended("SUCCESS", "success"),
    _ended("FAILED", "error", "dead"),
    _ended("RETRIES", "retry", "crash", wide=True),
    Column("WAITING", lambda line: count(line[1].waiting), right=True),
    Column("RUNNING", lambda line: line[1].running, right=True),
    Column("WAIT P50", lambda line: length(line[1].wait.p50), right=True),
    Column("P95", lambda line: length(line[1].wait.p95), right=True),
    Column("FOR A PROCESS P95", lambda line: length(line[1].process_wait.p95), right=True),
    Column("RUN P50", lambda line: length(line[1].run.p50), right=True),
    Column("P95", lambda line: length(line[1].run.p95), right=True),
]

TARGETS: list[Column] = [  # of a WaitTarget
    Column("QUEUE", "queue", flexible=True),
    Column("WAIT TARGET", lambda target: f"{target.seconds:.15g}s", right=True),
    Column("IN TIME, LAST DAY", lambda target: target.last_day.in_words, right=True),
    Column("OF", lambda target: count(target.last_day.targeted), right=True),
    Column("LAST 30 DAYS", lambda target: target.last_month.in_words, right=True),
    Column("OF THEM", lambda target: count(target.last_month.targeted), right=True),
]


def _list(options: Options, screen: Screen) -> None:
    _show(Queue.objects.order_by("name"), screen)


def _show(queues: Iterable[Queue], screen: Screen) -> None:
    now = present.queues()
    lines = [
        {name: getattr(queue, name) for name in ("name", *(limit.name for limit in OF_QUEUE))} | now[queue.pk].numbers
        for queue in queues
        if queue.pk in now  # a queue that was added meanwhile is not
    ]
    screen.document({"queues": lines})
    screen.table(COLUMNS, lines)


def _stats(options: Options, screen: Screen) -> None:
    day = last_day.of_queues(timezone.now())
    lines: list[tuple[str, Summary]] = [(name, summary) for (name,), summary in day.queues.items()]
    queues = [{"queue": name} | asdict(summary) for name, summary in lines]
    targets = [asdict(target) for target in day.targets]
    screen.document({"since": day.since, "counted_at": day.counted_at, "queues": queues, "wait_targets": targets})
    screen.table(STATISTICS, lines)
    if day.targets:
        screen.table(TARGETS, day.targets)
    screen.say(f"Attempts that ended since {utc(day.since)}, counted at {utc(day.counted_at) or 'no time yet'}.")


def _add(options: Options, screen: Screen) -> None:
    name = options["name"]
    if queue := Queue.objects.filter(name=name).first():
        screen.say(f"The queue {name} exists, and is not changed. To change it: manage.py queues set {name}")
    else:
        queue = Queue(name=name)
        limits.change(queue, limits.given(options, SETTINGS))
    _show([queue], screen)
    for sentence in pools.after_move(queue):
        screen.say(sentence)


def _set(options: Options, screen: Screen) -> None:
    changes = limits.given(options, SETTINGS)
    if not changes:
        raise CommandError("set: name a limit to change; see: manage.py queues set --help")
    _change(changes, options, screen)


def _change(changes: dict[str, Any], options: Options, screen: Screen) -> None:
    queue = _named(options)
    limits.change(queue, changes)
    _show([queue], screen)
    for sentence in pools.after_move(queue) if "pool" in changes else ():
        screen.say(sentence)


def _open(options: Options, screen: Screen) -> None:
    queue, slug = _named(options), options["tenant"]
    try:
        open_line(queue, None if slug is None else tenant_named(slug))
    except InvalidRequest as refused:
        raise CommandError(refused.message) from None
    screen.say(f"Queue {queue.name} is open{'' if slug is None else f' for tenant {slug}'}.")


def _named(options: Options) -> Queue:
    try:
        return queue_named(options["name"])
    except InvalidRequest as refused:
        raise CommandError(f"{refused}; to create it: manage.py queues add {options['name']}") from None


NAME = argument("name", help="The queue.")
LIMITS = (NAME, *limits.options(SETTINGS, {}))
LIST = Subcommand("list", "Show the queues with their limits and their use.", (), _list)
STATS = Subcommand("stats", "Show what ended in the last 24 hours, and how long it waited and ran.", (), _stats)
ADD = Subcommand("add", "Create a queue; an existing one of that name is not changed.", LIMITS, _add)
PAUSE = Subcommand(
    "pause",
    "Pause a queue: its waiting jobs stay waiting, its running jobs continue.",
    (NAME,),
    partial(_change, {"paused": True}),
)
RESUME = Subcommand("resume", "Resume a queue.", (NAME,), partial(_change, {"paused": False}))
SET = Subcommand("set", "Change a queue's limits and defaults.", LIMITS, _set)
OPEN = Subcommand(
    "open",
    "Open a line that a job holds (RetryLater with hold), before its moment.",
    (NAME, argument("--tenant", help="The tenant whose jobs are held. Without it: all jobs of the queue.")),
    _open,
)
