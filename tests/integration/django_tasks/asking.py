"""What the tests of the backend have in common."""

import pytest

from jobs.contrib.django_tasks import JobsBackend, interface
from tests.sample import later

READY, RUNNING = interface.TaskResultStatus.READY, interface.TaskResultStatus.RUNNING
SUCCESSFUL, FAILED = interface.TaskResultStatus.SUCCESSFUL, interface.TaskResultStatus.FAILED
BOTH = pytest.mark.parametrize("task", [later.noop_task, later.noop_task_async], ids=["sync", "async"])


def backend() -> JobsBackend:
    used = later.noop_task.get_backend()
    assert isinstance(used, JobsBackend)
    return used
