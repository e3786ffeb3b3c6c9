"""Partitions of a table that is partitioned by one moment and has a default partition.

An insert never fails for lack of a partition: the row goes to the default one, and `ensure` moves it. However long
other sessions read the table, no insert waits longer than the time limits below. Then both functions give up, and the
caller tries again later.
"""

from datetime import datetime

from django.db import transaction

from jobs.store.rows import rows
from jobs.store.session import session
from plumbing.names import named

LOCK_SECONDS = 1.0  # seconds to wait for a lock that hardly any insert needs
DROP_PATIENCE = 0.1  # seconds to wait for the lock of a drop: all inserts wait behind it


def ensure(parent: str, starts: datetime, ends: datetime) -> bool:
    """Give the table a partition for the moments from `starts` up to `ends`; False if it has one.

    Its name is that of the table and the day of `starts`: attempts_20301231. Raises OperationalError if another
    session holds a lock for too long, and a database error if another partition overlaps.
    """
    with transaction.atomic():
        _lock(parent, LOCK_SECONDS)
        commands = rows("missing_partition", parent=named(parent), starts=starts, ends=ends)
        for (command,) in commands:
            _run(command)
    return bool(commands)


def drop_before(parent: str, moment: datetime) -> int:
    """Drop the partitions that end at this moment or before, one after the other; return how many.

    Rows of the default partition from before that moment are deleted. Raises OperationalError if another session reads
    the table for too long.
    """
    *drops, delete = [command for (command,) in rows("old_partitions", parent=named(parent), moment=moment)]
    for command in drops:
        with transaction.atomic():
            _lock(parent, DROP_PATIENCE)
            _run(command)
    _run(delete)
    return len(drops)


def _lock(parent: str, patience: float) -> None:
    for (command,) in rows("lock_partitions", parent=named(parent), patience=round(patience * 1000)):
        _run(command)


def _run(command: str) -> None:
    with session().cursor() as cursor:
        cursor.execute(command)
