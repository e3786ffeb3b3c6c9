"""The functions that may run as jobs: those marked @job at the top level of a module."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from django.apps import apps
from django.utils.module_loading import autodiscover_modules

from jobs.authoring.decorator import FUNCTIONS, MARK
from jobs.calls.refusals import InvalidRequest


def find(module: str, name: str, *, http: bool = False) -> Callable[..., Any] | None:
    """The function of that name; None if there is none. http: only if HTTP may call it.

    A worker may meet a function whose module it has not imported yet. It imports the module if that belongs to an
    installed app; a tenant's request imports nothing. Raises InvalidRequest if the module's own code fails.
    """
    try:
        if not http and (module, name) not in FUNCTIONS:
            _import(module)
        return known(http=http).get((module, name))
    except Exception as error:
        raise InvalidRequest("source_type", f"{module} cannot be imported: {error!r}") from error


def known(*, http: bool = False) -> dict[tuple[str, str], Callable[..., Any]]:
    """All of them by module and name: those of the apps' modules `tasks`, and those imported otherwise."""
    _discover()
    return {named: function for named, function in FUNCTIONS.items() if getattr(function, MARK).http or not http}


@cache
def _discover() -> None:
    autodiscover_modules("tasks")


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
