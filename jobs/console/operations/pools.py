"""Tell operators what is left to do when they have changed a pool, or moved a queue into one."""

from collections.abc import Collection, Iterator

from jobs.calls import registry
from jobs.models import Pool, Queue
from jobs.reading.pools import PoolView

MOST_NAMED = 5  # job types


def left_to_do(pool: PoolView) -> Iterator[str]:
    """Yield what is left to do before this pool works as its row says, a sentence for each."""
    if pool.outdated:
        named = ", ".join(pool.outdated[:MOST_NAMED]) + (", …" if len(pool.outdated) > MOST_NAMED else "")
        yield f"Restart the workers of pool {pool.name}, which read this when they start: {named}."
    if not pool.queues:
        yield f"No queue is in pool {pool.name} yet. To move one: manage.py queues set QUEUE --pool {pool.name}"
    if not pool.takes_plain:
        yield from _unfit(pool.name, pool.queues)


def after_move(queue: Queue) -> Iterator[str]:
    """Yield what is left to do after a queue was moved into its pool."""
    if Pool.objects.filter(name=queue.pool, kind=Pool.Kind.LIGHT, threads=False).exists():
        yield from _unfit(queue.pool, [queue.name])


def _unfit(pool: str, queues: Collection[str]) -> Iterator[str]:
    """Yield a warning if job types whose queue is one of these are not `async def`."""
    if unfit := registry.not_async(queues):
        more = f" and {len(unfit) - MOST_NAMED} more" if len(unfit) > MOST_NAMED else ""
        yield (
            f"Pool {pool} is light, so submits of {', '.join(unfit[:MOST_NAMED])}{more} are refused from now on: "
            "make them `async def`, or give them a queue of an ordinary pool; "
            f"or, if they only wait, type: manage.py queues pool {pool} --threads"
        )
