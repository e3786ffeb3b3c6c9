"""Jobs that tell how far they are, and then nothing any more."""

import time

from jobs import current_job, job
from tests.sample.models import note_run

LONG = 3600.0  # seconds
SILENCE = 1.0


@job(silence=SILENCE, dedup=False)
def talk(*, words: int, then: str = "end") -> str:
    """Tells so many words, in longer than it may be silent; then it ends, hangs, or hangs stubbornly."""
    note_run()
    for _ in range(words):
        time.sleep(0.3)
        current_job().progress(0.5)
    while then != "end":
        try:
            hang()
        except Exception:
            if then != "stubborn":
                raise
    return "told"


def hang() -> None:
    time.sleep(LONG)


@job(queue="light", silence=SILENCE, dedup=False)
async def block() -> None:
    """Keeps the loop to itself, and hangs in C."""
    current_job().progress(0.5)
    hang()
