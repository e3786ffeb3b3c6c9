"""Jobs that are in sequences."""

from jobs import Retry, job
from tests.sample.models import note_run


@job(sequence=lambda *, account, **_: account, http=True)
def book(account: str | int | None, amount: int = 0) -> int:
    note_run()
    if amount < 0:
        raise ValueError("overdrawn")
    return amount


@job(sequence=lambda *, account, **_: account, sequence_stops=True)
def pay(account: str, amount: int = 0) -> int:
    note_run()
    if amount < 0:
        raise ValueError("overdrawn")
    return amount


@job(sequence=lambda *, account, **_: account, retry=Retry.every(0, max_retries=1))
def insist(account: str, amount: int = 0) -> int:
    note_run()
    if amount < 0:
        raise ValueError("overdrawn")
    return amount


@job(sequence=lambda: 1)
def odd(x: int = 0) -> None: ...
