"""Checks of what the bodies of jobs need, once the models are loaded."""

from collections.abc import Iterator

from jobs.calls import registry
from jobs.calls.owners import path_of
from jobs.calls.refusals import InvalidRequest
from jobs.checks import Fault, check
from jobs.conf import settings
from tenants.checks import is_function_or_unset


@check("jobs.E020")
def paths_to_the_tenant() -> Iterator[Fault]:
    """Otherwise the first submit would say so, or the worker."""
    for model in registry.source_types().values():
        if all(registry.target(model, method).class_level for method in registry.methods(model)):
            continue  # whoever submits names the tenant
        try:
            path_of(model)
        except InvalidRequest as error:
            hint = 'Set jobs_tenant of the model to the path of foreign keys that leads to it: jobs_tenant = "shop", '
            hint += '"order__shop", or "pk" if the model itself is the tenant.'
            yield f"The jobs of {model._meta.label} find no tenant: {error.message}.", hint, model


@check("jobs.E021")
def around() -> Iterator[Fault]:
    """Otherwise every job would end with this error."""
    if not is_function_or_unset(settings.JOBS_AROUND):
        hint = 'Set JOBS_AROUND to "module.function": of the running job, it returns a context manager. Or unset it.'
        yield f"JOBS_AROUND is {settings.JOBS_AROUND!r}: no function.", hint
