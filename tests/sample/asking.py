"""Jobs that wait for an event."""

from jobs import Retry, WaitFor, current_job, in_thread, job
from tests.sample.models import note_run


@job(retry=Retry.every(0, max_retries=1), dedup=False)
async def ship(order: str, seconds: float = 60.0) -> object:
    await in_thread(note_run)
    run = current_job()
    run.stats["asked"] = run.attempt
    if run.event is None:
        raise WaitFor(f"approved:{order}", seconds=seconds)
    if run.event.name == f"approved:{order}" and run.event.payload == "and paid":
        raise WaitFor(f"paid:{order}", seconds=seconds)
    if run.event.payload == "fail":
        raise ValueError("no")
    return [run.event.name, run.event.payload]


@job(sequence=lambda *, order, **_: order)
def ship_in_turn(order: str, waits: bool = True) -> None:
    note_run()
    if waits and current_job().event is None:
        raise WaitFor(f"approved:{order}", seconds=60)


@job(dedup=False)
def insist(order: str) -> None:
    raise WaitFor(f"approved:{order}", seconds=60)
