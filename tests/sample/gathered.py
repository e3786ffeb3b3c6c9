"""Jobs that gather calls."""

from typing import Any

from jobs import Retry, job
from tests.sample.models import note_run

WITHIN = 10.0  # seconds


@job(identical="gather", within=WITHIN, most_calls=4, retry=Retry.every(60, max_retries=1), http=True)
def index(*, calls: list[Any], model: str = "small") -> list[Any]:
    note_run()
    if "fail" in calls:
        raise ValueError("no")
    return calls


@job(identical="gather", within=0, most_calls=4)
async def embed(*, calls: list[Any]) -> int:
    return len(calls)


@job(identical="gather", within=WITHIN, expires=5, dedup_key=lambda *, calls: calls[0]["shelf"])
def tidy(*, calls: list[Any]) -> None: ...
