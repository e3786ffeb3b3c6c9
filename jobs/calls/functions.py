"""The functions that may run as jobs: those marked @job at the top level of a module."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from django.apps import apps

from jobs import telemetry
from jobs.authoring.decorator import FUNCTIONS, MARK
from jobs.calls.refusals import UnknownTarget


def find(module: str, name: str, *, http: bool = False) -> Callable[..., Any] | None:
    """The function of that name; None if there is none. http: only if HTTP may call it.

    A worker may meet a function whose module it has not imported yet. It imports that module, if it belongs to an
    installed app; a tenant's request imports none but the apps' modules `tasks`. Raises UnknownTarget if the module's
    own code fails. Tenants may read that message, so it has the error's class alone; its cause has the rest.
    """
    if (module, name) not in FUNCTIONS:
        if http:
            discover()
        else:
            _import_for_a_call(module)
    function = FUNCTIONS.get((module, name))
    return function if function is not None and (getattr(function, MARK).http or not http) else None


def known(*, http: bool = False) -> dict[tuple[str, str], Callable[..., Any]]:
    """All of them by module and name: those of the apps' modules `tasks`, and those imported otherwise."""
    discover()
    return {named: function for named, function in FUNCTIONS.items() if getattr(function, MARK).http or not http}


def discover() -> list[str]:
    """Import the module `tasks` of each app. Return those whose own code fails: the functions of the others run."""
    broken = []
    for app in apps.get_app_configs():
        module = f"{app.name}.tasks"
        try:
            _import(module)
        except Exception as error:
            telemetry.noticed("tasks not imported", module=module, error=type(error).__name__)
            broken.append(module)
    return broken


def _import_for_a_call(module: str) -> None:
    try:
        _import(module)
    except Exception as error:
        raise UnknownTarget("source_type", f"{module} cannot be imported: {type(error).__name__}") from error


@cache
def _import(module: str) -> None:
    """Import a module once; after an error in its own code, again at the next call."""
    if apps.get_containing_app_config(module) is None:
        return
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if not module.startswith(error.name or "."):  # it exists, and imports something that does not
            raise
