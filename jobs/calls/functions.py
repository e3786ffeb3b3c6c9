"""Find the functions that may run as jobs: those marked @job at the top level of a module."""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from django.apps import apps

from jobs import telemetry
from jobs.authoring.decorator import FUNCTIONS, MARK, STANDS_IN
from jobs.calls.refusals import InvalidRequest, UnknownTarget

HIDDEN = "is not the function marked @job: something else has its name, such as a decorator above @job; put @job on top"


def find(module: str, name: str, *, http: bool = False, of_a_job: bool = False) -> Callable[..., Any] | None:
    """Return the function of that name; None if there is none.

    http: return it only if HTTP may call it.
    of_a_job: a stored job names it.

    This process may not have imported the module yet. The module of a stored job is imported: its submitter did so too.
    A module that people name is imported if it belongs to an installed app. For a request over HTTP only the apps'
    modules `tasks` are imported.

    Raises UnknownTarget if the module's own code fails, or if a decorator hides the function. Tenants may read that
    message, so it has only the class of an error; the exception's cause has the rest.
    """
    if (module, name) not in FUNCTIONS:
        if http:
            discover()
        elif of_a_job or apps.get_containing_app_config(module) is not None:
            _import_for_a_call(module)
    function = whole(module, name)
    return function if function is not None and (getattr(function, MARK).http or not http) else None


def check_can_be_imported(module: str) -> None:
    """Raise InvalidRequest for a module that no worker can import: `__main__`, a notebook, or one made at run time."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    if spec is None or spec.name != module:
        raise InvalidRequest("source_type", f"no worker can import {module}: move the function into a module of a file")


def known(*, http: bool = False) -> dict[tuple[str, str], Callable[..., Any]]:
    """Return the functions by module and name: those of the apps' modules `tasks`, and those imported otherwise.

    http: only those that HTTP may call.
    """
    discover()
    standing = {named: _standing(*named) for named in FUNCTIONS}
    return {
        named: function
        for named, function in standing.items()
        if function is not None and (getattr(function, MARK).http or not http)
    }


@cache
def of_an_app(module: str, name: str) -> Callable[..., Any] | None:
    """Return the function that stored jobs name, if it is of an installed app, wherever its module is; else None.

    The module is imported, once: a page that names the function need not be of a process that has run it.
    """
    if apps.get_containing_app_config(module) is None:
        return None
    try:
        return find(module, name)
    except UnknownTarget:
        return None


def whole(module: str, name: str) -> Callable[..., Any] | None:
    """Return a function marked @job with the decorators above the mark, as its module has it; None if there is none.

    Raises UnknownTarget if the module has something else under its name. The marked function alone might lack a
    transaction, a lock or a check of permissions.
    """
    if (module, name) not in FUNCTIONS:
        return None
    if (function := _standing(module, name)) is None:
        raise UnknownTarget("source_method", f"{module}.{name} {HIDDEN}")
    return function


def hidden() -> list[str]:
    """Return the functions marked @job, of the modules imported so far, that are not found under their names."""
    return [f"{module}.{name}" for module, name in FUNCTIONS if _standing(module, name) is None]


def _standing(module: str, name: str) -> Callable[..., Any] | None:
    marked = FUNCTIONS[module, name]
    if hasattr(marked, STANDS_IN):
        return marked
    function = getattr(sys.modules.get(module), "__dict__", {}).get(name)
    same = getattr(function, "__dict__", {}).get(MARK) is getattr(marked, MARK)
    return function if same and callable(function) else None


def discover() -> list[str]:
    """Import the module `tasks` of each app. Return the modules whose own code fails; the others can be used."""
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
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if not module.startswith(error.name or "."):  # it exists, and imports something that does not
            raise
