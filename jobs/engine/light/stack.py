"""The stack of one attempt of a light process, for operators."""

import sys

from jobs.engine.light.coroutine import Attempt
from jobs.engine.process.stacks import MOST, of_frame, of_tasks, until_engine


def of_attempt(attempt: Attempt, loop_thread: int, *, on_the_loop: bool) -> str:
    """Return the stack of its body, which runs in a thread, is on the loop at this moment, or waits; and of its tasks.

    loop_thread: the thread of the loop, by its ident.
    on_the_loop: whether the loop runs its code at this moment.
    """
    body, task = attempt.body, attempt.task
    waiting = [*attempt.tasks]
    thread = loop_thread if on_the_loop else None if body is None else body.thread
    if thread is None and task is not None:
        waiting.append(task)
    of_thread = [] if thread is None else until_engine(of_frame(sys._current_frames().get(thread)))
    return "\n".join(part for part in ("\n".join(of_thread), of_tasks(waiting)) if part)[:MOST]
