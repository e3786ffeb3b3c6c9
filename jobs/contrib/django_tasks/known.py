"""The tasks that may run as jobs."""

from jobs.calls import functions
from jobs.calls.refusals import InvalidRequest
from jobs.contrib.django_tasks.interface import AnyTask

TASKS: dict[tuple[str, str], AnyTask] = {}  # by the module and the name of their functions, as they were first declared


def find(module: str, name: str) -> AnyTask | None:
    """The task of that name, whose module may have to be imported; None if there is none."""
    try:
        functions.find(module, name)
    except InvalidRequest:
        return None
    return TASKS.get((module, name))
