"""Answer a what-if in this process, bounded in memory and time. `what_if_process.py` starts it."""

import os
import resource
import signal
import sys

from jobs.insight.what_if_process import SECONDS

MEMORY = 1 << 30  # bytes
NICE = 10


def answer(pk: int) -> None:
    """Answer the stored question in this process, and store the answer."""
    from jobs import store  # not before the settings are known
    from jobs.calls.refusals import InvalidRequest
    from jobs.insight import replay, what_if
    from jobs.models import WhatIf

    row = WhatIf.objects.get(pk=pk)
    try:
        stored = row.question
        question = what_if.Question.of(stored["since"], stored["until"], stored["changes"], now=store.database_now())
        if not replay.begin_alone():
            raise InvalidRequest("what-if", "another one is being replayed; ask again in a minute")
        row.answer = what_if.stored(what_if.answer_document(question))
    except InvalidRequest as refused:
        row.refused = str(refused)[:500]
    except MemoryError:
        row.refused = "the replay takes too much memory; ask for a shorter time"
    row.ended_at = store.database_now()
    row.save(update_fields=["answer", "refused", "ended_at"])


def main(pk: int) -> None:
    """Answer the question with bounded time and memory, and at a low priority."""
    signal.alarm(SECONDS)
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    import django

    django.setup()
    answer(pk)


if __name__ == "__main__":
    main(int(sys.argv[1]))
