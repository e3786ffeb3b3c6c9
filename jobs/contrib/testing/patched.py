"""Refuse jobs whose function a test has patched: the declared function would run all the same."""

import inspect
import sys
from typing import Any
from unittest import mock

from django.apps import apps

from jobs.authoring.decorator import FUNCTIONS, MARK
from jobs.store import Started


def refuse_patched(job: Started) -> None:
    """Raise AssertionError if the object under the job's name is no longer the declared one."""
    there: Any
    if job.source_type in sys.modules:
        function = FUNCTIONS.get((job.source_type, job.source_method))
        there = getattr(sys.modules[job.source_type], job.source_method, None)
        patched = function is not None and _is_code(there) and inspect.unwrap(there) is not function
    else:
        there = _method(job)
        patched = _is_code(there) and MARK not in vars(there)
    if patched:
        name = f"{job.source_type}.{job.source_method}"
        raise AssertionError(f"{name} is patched in this test: patch what it calls, or use fail_next")


def _method(job: Started) -> Any:
    try:
        model = apps.get_model(job.source_type)
    except (LookupError, ValueError):
        return None
    static = inspect.getattr_static(model, job.source_method, None)
    return static.__func__ if isinstance(static, classmethod | staticmethod) else static


def _is_code(thing: Any) -> bool:
    """Return whether it is a mock or a function, and no object that a library makes of a job, such as a task."""
    return issubclass(type(thing), mock.NonCallableMock) or inspect.isfunction(thing)
