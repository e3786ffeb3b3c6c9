"""The signature of a method. `inspect` takes longer than the rest of a submit, so signatures are cached."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jobs.authoring.decorator import signature
from jobs.calls.arguments import as_json
from jobs.calls.refusals import InvalidRequest


class Signature:
    """The arguments of a method by name, without self or cls; or the arguments of a function, which has neither."""

    def __init__(self, function: Callable[..., Any], *, method: bool = True) -> None:
        self._inspected = signature(function)
        self._owner = (None,) if method else ()
        parameters = list(self._inspected.parameters.values())[len(self._owner) :]
        self._rest = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None)
        named = [p for p in parameters if p.name != self._rest]
        self._names = frozenset(p.name for p in named)
        self._by_position = [p.name for p in named if p.kind is p.POSITIONAL_OR_KEYWORD]
        self.defaults = {p.name: p.default for p in named if p.default is not p.empty}
        self._json_defaults = {name: value for name, value in self.defaults.items() if _is_json(value)}
        self._required = self._names - self.defaults.keys()
        plain = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
        self.text = str(inspect.Signature(plain))  # without annotations, which are for programmers

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name. Raises Python's own TypeError if they do not fit."""
        bound = dict(zip(self._by_position, args, strict=False), **kwargs) if args else dict(kwargs)
        fits = len(bound) == len(args) + len(kwargs) and self._required <= bound.keys() <= self._names
        return bound if fits else self._bind(args, kwargs)

    def complete(self, bound: Mapping[str, Any]) -> dict[str, Any]:
        """Fill in the defaults, as the function itself sees the call."""
        return {**self.defaults, **bound}

    def complete_json(self, bound: Mapping[str, Any]) -> dict[str, Any]:
        """Fill in the defaults that are JSON: f() and f(region=None) are the same call.

        A call cannot give any other default explicitly, so to leave that argument out is a call of its own.
        """
        return {**self._json_defaults, **bound}

    def _bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Let Python bind arguments that do not fit, and those of a method with **kwargs."""
        bound = self._inspected.bind(*self._owner, *args, **kwargs)
        named = dict(list(bound.arguments.items())[len(self._owner) :])
        named.update(named.pop(self._rest, {}) if self._rest else {})
        return named


def _is_json(default: Any) -> bool:
    try:
        as_json(default)
    except InvalidRequest:
        return False
    return True


signature_of = cache(Signature)
