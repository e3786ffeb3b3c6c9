"""The methods that may run as jobs: those marked @job, on Asynchronous models. No other method can be named."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models

from jobs.authoring.decorator import MARK, Spec
from jobs.calls.arguments import as_json
from jobs.calls.request import InvalidRequest
from jobs.calls.signature import Signature, signature_of


@dataclass(frozen=True)
class Target:
    """A method that may run as a job, with its @job options."""

    model: type[models.Model]
    method: str
    function: Callable[..., Any]
    spec: Spec
    class_level: bool

    @property
    def source_type(self) -> str:
        return self.model._meta.label_lower

    @property
    def signature(self) -> Signature:
        return signature_of(self.function)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by name, as JSON. Raises InvalidRequest if they do not fit the signature."""
        try:
            bound = self.signature.bind(args, kwargs)
        except TypeError as error:
            raise InvalidRequest("args", f"do not fit {self.method}{self.signature.shown}: {error}") from None
        named: dict[str, Any] = as_json(bound)
        return named


@cache
def source_types(*, http: bool = False) -> dict[str, type[models.Model]]:
    """All models with a @job method, by source type. http: only those with a method that HTTP may call."""
    return {model._meta.label_lower: model for model in apps.get_models() if methods(model, http=http)}


def resolve(source_type: str, source_method: str, *, http: bool = False) -> Target:
    """The target of that name. Raises InvalidRequest, listing the known names. http: only those that HTTP may call."""
    known = source_types(http=http)
    if source_type not in known:
        raise InvalidRequest("source_type", f"{_cut(source_type)} is unknown; known: {', '.join(sorted(known))}")
    return target(known[source_type], source_method, http=http)


def target(model: type[models.Model], method: str, *, http: bool = False) -> Target:
    """The target on a model. Raises InvalidRequest unless the method is marked @job (http: with http=True)."""
    static = inspect.getattr_static(model, method, None)
    class_level = isinstance(static, classmethod)
    function = static.__func__ if isinstance(static, classmethod) else static
    spec = getattr(function, MARK, None)
    if not callable(function) or not isinstance(spec, Spec) or (http and not spec.http):
        known = ", ".join(methods(model, http=http)) or "none"
        raise InvalidRequest("source_method", f"{_cut(method)} is not a job; jobs: {known}")
    return Target(model, method, function, spec, class_level)


def methods(model: type[models.Model], *, http: bool = False) -> list[str]:
    """The names of the methods marked @job (http: with http=True)."""
    statics = ((name, inspect.getattr_static(model, name, None)) for name in dir(model))
    specs = ((name, getattr(getattr(static, "__func__", static), MARK, None)) for name, static in statics)
    return [name for name, spec in specs if spec is not None and (spec.http or not http)]


def _cut(name: str) -> str:
    return repr(name if len(name) <= 200 else f"{name[:200]}…")  # noqa: PLR2004 - the length of the columns


def source(model: type[models.Model], source_id: Any, tenant_id: int) -> models.Model | None:
    """The tenant's object; None if the id is missing, malformed or another tenant's."""
    try:
        found = next(iter(model._default_manager.filter(pk=source_id, tenant=tenant_id)), None)
    except (ValueError, TypeError, OverflowError, ValidationError):
        return None
    # Other spellings of the id (" 9", "0_9") do not count: nobody was given them.
    return found if found is not None and str(found.pk) == str(source_id) else None
