"""Enqueue a task as a job of its tenant."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.core import checks
from django.utils.module_loading import import_string

from jobs.authoring.current import caller
from jobs.calls.compose import compose
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import target_of
from jobs.contrib.django_tasks import results, runner
from jobs.contrib.django_tasks.interface import AnyResult, AnyTask, BaseTaskBackend, InvalidTask, task_enqueued
from jobs.engine.submitting.submit import submit_for
from tenants.mirror import tenant_of_key
from tenants.models import Tenant

OPTIONS = ("tenant", "tenant_argument")


class JobsBackend(BaseTaskBackend):
    """Store tasks as jobs. A task belongs to a tenant, which is found in this order:

    1. OPTIONS["tenant"]: the path of a function of the task, its args and its kwargs; it returns a Tenant or None.
    2. OPTIONS["tenant_argument"]: the name of a keyword argument of tasks, a Tenant's primary key.
    3. The tenant of the running job, if a job enqueues the task.
    """

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def validate_task(self, task: AnyTask) -> None:
        """Raise InvalidTask for an invalid task. A valid task is known by its name from then on."""
        super().validate_task(task)
        runner.declare(task)

    def enqueue(self, task: AnyTask, args: Any, kwargs: Any) -> Any:
        """Submit a job in the caller's transaction; return a TaskResult.

        Raises InvalidTask if the task is refused, TypeError if an argument is not JSON, and TooManyWaiting if the
        tenant's backlog is full.
        """
        self.validate_task(task)
        target = target_of(runner.function_of(task))
        call = runner.arguments(task, args, kwargs)
        try:
            request = partial(
                compose,
                target,
                None,
                target.bind((), call),
                tenant=self._tenant(task, args, kwargs),
                queue=task.queue_name,
                priority=runner.priority_of(task),
            )
            submitted = submit_for(task.run_after, request)
        except InvalidRequest as error:
            raise InvalidTask(str(error)) from error
        result = results.enqueued(task, self.alias, submitted, args, kwargs)
        task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> AnyResult:
        """Return the result. Raises TaskResultDoesNotExist."""
        return results.load(result_id, self.alias)

    def check(self, **kwargs: Any) -> list[checks.CheckMessage]:
        """Return errors for unknown options of this backend, and for a function that cannot be imported."""
        where = f"TASKS[{self.alias!r}]"
        unknown = sorted(self.options.keys() - set(OPTIONS))
        faults = [
            checks.Error(f"{where}: unknown option {option!r}; known: {', '.join(OPTIONS)}") for option in unknown
        ]
        if "tenant" in self.options:
            try:
                import_string(self.options["tenant"])
            except ImportError as error:
                faults.append(checks.Error(f'{where}: OPTIONS["tenant"] cannot be imported: {error}'))
        return list(faults)

    def _tenant(self, task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tenant:
        tenant: Tenant | None = None
        if "tenant" in self.options:
            tenant = import_string(self.options["tenant"])(task, args, kwargs)
        if tenant is None and (name := str(self.options.get("tenant_argument"))) in kwargs:
            tenant = tenant_of_key(kwargs[name])
            if tenant is None:
                raise InvalidTask(f"{name}: there is no tenant {kwargs[name]!r}")
        tenant = tenant or caller().tenant
        if tenant is None:
            raise InvalidTask(f'{task.module_path} has no tenant: see OPTIONS["tenant"] of TASKS[{self.alias!r}]')
        return tenant
