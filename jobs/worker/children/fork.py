"""Prepare a worker's parent before its pool forks, so that its processes keep sharing its memory.

Loaded together with Celery's tasks.
"""

import gc
from typing import Any

from celery import signals


@signals.celeryd_after_setup.connect  # all modules are imported; the pool starts next
def freeze(**_: Any) -> None:
    """Exclude all present objects from garbage collection.

    The collector writes into each object that it visits, and the kernel then copies the page: soon every process would
    have its own copy of all imported modules. A replaced process is forked from the same parent.
    """
    gc.collect()
    gc.freeze()
