"""Set the kind of a pool, its seats, and whether it has threads. The admin and the command line do it here.

A worker reads the row of its pool when it starts. So a change needs a restart of the pool's workers, and no dispatch.
"""

from collections.abc import Collection

from django.db import transaction

from jobs.models import Pool


def change(name: str, *, kind: str | None = None, seats: int | None = None, threads: bool | None = None) -> Pool:
    """Set what is given of a pool; return its row. A pool that has no row yet is ordinary.

    kind: one of Pool.Kind; None: it stays. A pool that becomes ordinary has one seat for each process, and no threads.
    seats: of each process; None: they stay, if the kind does.
    threads: whether a light pool runs bodies without `async` in threads; None: that stays.

    Raises ValidationError, by field; then nothing is stored.
    """
    with transaction.atomic():
        pool = Pool.objects.select_for_update(no_key=True).filter(name=name).first()
        if pool is None:
            pool = Pool(name=name, kind=Pool.Kind.ORDINARY, seats=1, threads=False)
        if kind is not None and kind != pool.kind:
            pool.kind = kind
            pool.seats = 1 if kind == Pool.Kind.ORDINARY else 0  # 0: to be refused, unless they are given
            pool.threads = False
        if seats is not None:
            pool.seats = seats
        if threads is not None:
            pool.threads = threads
        pool.full_clean()
        store(pool)
    return pool


def store(pool: Pool, fields: Collection[str] | None = None) -> None:
    """Store a row that was checked already. The audit log gets the old and new values and the actor.

    fields: the changed fields; None: all.
    """
    with transaction.atomic():  # with its entry in the audit log
        pool.save(update_fields=None if fields is None else list(fields))
