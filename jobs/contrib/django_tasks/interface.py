"""The interface of tasks: of Django itself from 6.0 on, or else of the package `django-tasks`. Both are alike."""

from typing import TYPE_CHECKING, Any

from jobs.checks.extras import require

try:
    from django.tasks import TaskContext, TaskResult, TaskResultStatus
    from django.tasks.backends.base import BaseTaskBackend
    from django.tasks.base import Task, TaskError
    from django.tasks.exceptions import InvalidTask, TaskResultDoesNotExist
    from django.tasks.signals import task_enqueued, task_finished, task_started
    from django.utils.json import normalize_json
except ImportError:
    require("tasks", "jobs.contrib.django_tasks")
    if not TYPE_CHECKING:  # the names are the same
        from django_tasks import TaskContext, TaskResult, TaskResultStatus
        from django_tasks.backends.base import BaseTaskBackend
        from django_tasks.base import Task, TaskError
        from django_tasks.exceptions import TaskResultDoesNotExist
        from django_tasks.signals import task_enqueued, task_finished, task_started
        from django_tasks.utils import normalize_json

        try:
            from django_tasks.exceptions import InvalidTask
        except ImportError:  # its name until 0.12
            from django_tasks.exceptions import InvalidTaskError as InvalidTask

if TYPE_CHECKING:  # generic for the type checker only
    AnyTask = Task[..., Any]
    AnyResult = TaskResult[..., Any]
else:
    AnyTask, AnyResult = Task, TaskResult
