"""`manage.py jobs stack`: show where the code of a running job is."""

import time
from typing import Any

from django.core.management.base import CommandError

from jobs import store
from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen, utc
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.engine.verbs.stack import ask_for_stack
from jobs.models import Stack
from jobs.reading import stacks

LOOK_AGAIN = 0.1  # seconds


def run(options: Options, screen: Screen) -> None:
    job = inputs.job_numbered(options["id"])
    number = ask_for_stack(job.pk)
    if number is None:
        raise CommandError(f"id: job {job.pk} is {job.status}; only a running job has a stack")
    stack = _answer(number)
    screen.document(as_json(stack))
    if stack.text:
        at = utc(stack.answered_at) if stack.answered_at else ""
        screen.say(f"Job {job.pk}, attempt {stack.attempt}, at {at}; the innermost call first:")
        for line in stack.text.splitlines():
            screen.say(line)
    else:
        screen.say(stack.note or stacks.LATE)


def as_json(stack: Stack) -> dict[str, Any]:
    return {
        "id": stack.job_id,
        "attempt": stack.attempt,
        "asked_at": stack.asked_at,
        "answered_at": stack.answered_at,
        "stack": stack.text,
        "note": stack.note,
    }


def _answer(number: int) -> Stack:
    """Wait for the answer; the question as it is, if none comes."""
    until = time.monotonic() + store.STACK_LATE
    while True:
        stack = inputs.existing(stacks.numbered(number), "id: the question was deleted")
        if stack.answered_at is not None or time.monotonic() > until:
            return stack
        time.sleep(LOOK_AGAIN)


STACK = Subcommand(
    "stack",
    "Show where the code of a running job is: files, lines, functions.",
    (argument("id", type=inputs.job_id),),
    run,
)
