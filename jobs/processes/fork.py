"""What a worker's parent does before its pool forks, so that its processes go on sharing its memory with it.

Loaded where Celery's tasks are.
"""

import gc
from typing import Any

from celery import signals


@signals.celeryd_after_setup.connect  # everything is imported, and the pool starts next
def freeze(**_: Any) -> None:
    """Leave what is there to no collector.

    It writes into each object that it looks at, and the kernel then gives the process a page of its own: soon every
    process had a copy of all that its parent had imported. A process that is replaced is forked from the same parent.
    """
    gc.collect()
    gc.freeze()
