"""Find the methods of models and the functions of modules that may run as jobs: those marked @job, and no others."""

import inspect
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.db import models

from jobs.authoring.decorator import CALLS, GATHER, MARK, Spec
from jobs.calls import functions
from jobs.calls.arguments import as_json
from jobs.calls.refusals import InvalidRequest, UnknownTarget
from jobs.calls.signature import Signature, signature_of


@dataclass(frozen=True)
class Target:
    """A method or function that may run as a job, with its @job options.

    model: the model of the method; None for a function.
    class_level: its jobs have no object.
    """

    model: type[models.Model] | None
    method: str
    function: Callable[..., Any]
    spec: Spec
    class_level: bool

    def __str__(self) -> str:
        return f"{self.source_type}.{self.method}"

    @property
    def source_type(self) -> str:
        """The label of the model, or the name of the function's module."""
        return self.function.__module__ if self.model is None else self.model._meta.label_lower

    @property
    def title(self) -> str:
        """The name for people: the title, else the first line of the docstring, else the name in words."""
        first = (inspect.getdoc(self.function) or "").partition("\n")[0].rstrip(".")
        return self.spec.title or first or in_words(self.method)

    @property
    def is_async(self) -> bool:
        """Return whether the body is a coroutine."""
        return is_coroutine(self.function)

    @property
    def signature(self) -> Signature:
        return signature_of(self.function, method=self.model is not None)

    def on(self, instance: models.Model | None) -> Callable[..., Any]:
        """Return the callable: the method of the object or of the class, or the function."""
        if self.model is None:
            return self.function
        called: Callable[..., Any] = getattr(self.model if self.class_level else instance, self.method)
        return called

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by name, as JSON. Raises InvalidRequest if they do not fit the method."""
        try:
            bound = self.signature.bind(args, kwargs)
        except TypeError as error:
            raise InvalidRequest("args", f"do not fit {self.method}{self.signature.text}: {error}") from None
        named: dict[str, Any] = as_json(bound)
        if self.spec.identical == GATHER:
            self._check_calls(named.get(CALLS))
        return named

    def _check_calls(self, calls: Any) -> None:
        """Raise InvalidRequest unless the body may get this list of calls."""
        most = self.spec.most_calls
        if not isinstance(calls, list) or not 0 < len(calls) <= most:
            what = f"{len(calls):,}" if isinstance(calls, list) else type(calls).__name__
            raise InvalidRequest("args", f"{CALLS} must be a list of 1 to {most:,} calls for {self.method}, not {what}")

    def within(self, **given: object) -> float | None:
        """Return the seconds in which calls are gathered. Raises InvalidRequest if it gathers none.

        given: options of the call, by name; it may have none of them, as it becomes a part of a job.
        """
        if self.spec.identical != GATHER:
            remedy = f"@job(identical={GATHER!r}, within=5)"
            raise InvalidRequest("identical", f"{self.method} does not gather calls; mark it {remedy}")
        for name, value in given.items():
            if value is not None:
                why = f"{self.method} gathers calls, and its @job says when they run"
                raise InvalidRequest(name, f"{why}: leave {name} out, or give dedup=False for a job of this call alone")
        return self.spec.within


is_coroutine = cache(inspect.iscoroutinefunction)


@cache
def source_types(*, http: bool = False) -> dict[str, type[models.Model]]:
    """Return all models with a @job method, by source type.

    http: only those with a method that HTTP may call.
    """
    return {model._meta.label_lower: model for model in apps.get_models() if methods(model, http=http)}


def targets() -> list[Target]:
    return of_models() + [target_of(function) for function in functions.known().values()]


def of_models() -> list[Target]:
    """Return the targets on models. A method that a proxy model inherits counts once, as its model's."""
    every = (target(model, method) for model in source_types().values() for method in methods(model))
    return list({str(target): target for target in every}.values())


def units() -> set[str]:
    """Return the units that any job type declares."""
    functions.discover()
    return {unit for one in targets() for unit in one.spec.units}


def not_async(queues: Collection[str]) -> list[str]:
    """Return the names of the job types of these queues that are not `async def`, sorted."""
    functions.discover()
    return sorted(str(one) for one in targets() if one.spec.queue in queues and not one.is_async)


def resolve(source_type: str, source_method: str, *, http: bool = False, of_a_job: bool = False) -> Target:
    """Return the target of that name. Raises UnknownTarget, listing the known names.

    http: only a target that HTTP may call.
    of_a_job: a stored job names it, so its module may be imported, even outside the installed apps.
    """
    known = source_types(http=http)
    if source_type in known:
        return target(known[source_type], source_method, http=http)
    if function := functions.find(source_type, source_method, http=http, of_a_job=of_a_job):
        return target_of(function)
    modules: dict[str, list[str]] = {}
    for module, name in functions.known(http=http):
        modules.setdefault(module, []).append(name)
    if source_type in modules:
        raise _no_job(source_method, modules[source_type])
    raise UnknownTarget(
        "source_type", f"{_cut(source_type)} is unknown; known: {', '.join(sorted({*known, *modules}))}"
    )


def spec_of(source_type: str, source_method: str) -> Spec | None:
    """Return the options of a job type; None if this process does not know its code."""
    with suppress(UnknownTarget):
        return resolve(source_type, source_method).spec
    return None


def target_of(function: Callable[..., Any]) -> Target:
    """Return the target of a function. Raises InvalidRequest unless it is marked @job, at the top level of its module.

    Raises TypeError for an object that is no function, such as a mock.
    """
    if not hasattr(function, "__qualname__"):
        raise TypeError(f"async_ takes a @job function or method, not {function!r}; a test patches what a job calls")
    module, name = function.__module__, function.__qualname__
    spec = getattr(function, "__dict__", {}).get(MARK)
    standing = functions.whole(module, name)
    if standing is None and spec is not None and "<locals>" not in name and "." in name:
        raise InvalidRequest("source_method", f"{name} is a method: call async_ with that of an object")
    if standing is None or spec is not getattr(standing, MARK):
        raise InvalidRequest("source_method", f"{module}.{name} is no job: mark it @job, at the top level of a module")
    return Target(None, name, standing, spec, class_level=True)


def target(model: type[models.Model], method: str, *, http: bool = False) -> Target:
    """Return the target on a model. Raises UnknownTarget unless the method is marked @job (http: with http=True)."""
    marked = _marked(inspect.getattr_static(model, method, None))
    if marked is None or (http and not marked[1].http):
        if not http and (why := unheeded(model).get(method)):
            raise UnknownTarget("source_method", f"{method} is not a job: {why}")
        raise _no_job(method, methods(model, http=http))
    return Target(home(model, method), method, *marked)


def home(model: type[models.Model], method: str) -> type[models.Model]:
    """Return the model whose job type the method is. A proxy counts as its model, unless it overrides the method."""
    concrete = model._meta.concrete_model
    if concrete is None or concrete is model:
        return model
    mark = _marked(inspect.getattr_static(model, method, None))
    of_the_rows = (kind for kind in reversed(model.__mro__) if issubclass(kind, concrete))
    return next(kind for kind in of_the_rows if _marked(inspect.getattr_static(kind, method, None)) == mark)


def is_inherited(target: Target) -> bool:
    """Return whether the model inherits the method from another model with a table of its own."""
    above = [] if target.model is None else target.model._meta.get_parent_list()
    statics = (_marked(inspect.getattr_static(parent, target.method, None)) for parent in above)
    return any(static is not None and static[0] is target.function for static in statics)


def _no_job(method: str, known: list[str]) -> UnknownTarget:
    return UnknownTarget("source_method", f"{_cut(method)} is not a job; jobs: {', '.join(known) or 'none'}")


def methods(model: type[models.Model], *, http: bool = False) -> list[str]:
    """Return the names of the methods marked @job (http: with http=True)."""
    # The result of `inspect.getattr_static`, in a fortieth of its time: each process needs it before its first job.
    statics = {name: static for kind in reversed(model.__mro__) for name, static in vars(kind).items()}
    marked = ((name, _marked(static)) for name, static in statics.items())
    return sorted(name for name, mark in marked if mark is not None and (mark[1].http or not http))


def unheeded(model: type[models.Model]) -> dict[str, str]:
    """Return the methods that are no jobs although something of their name is marked @job, each with the reason."""
    faults: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        for name, static in vars(kind).items():
            wrapper = type(static)
            inner = static.fget if wrapper is property else static.__func__ if wrapper is staticmethod else None
            if _marked(static) is not None:
                faults.pop(name, None)
            elif _marked(inner) is not None:
                faults[name] = f"@job does not reach through {wrapper.__name__}; mark a method, or a @classmethod"
            elif callable(static) and any(_marked(vars(above).get(name)) for above in kind.__mro__[1:]):
                faults[name] = f"{kind.__name__} overrides a job; mark the override @job, too"
    return faults


def _marked(static: Any) -> tuple[Callable[..., Any], Spec, bool] | None:
    """Return the function and the mark of an attribute of a class, and whether it is a classmethod; None without mark.

    Only a mark of its own counts, and only its type is looked at: a proxy object may have attributes of any name, fail,
    or load a lazy value.
    """
    if issubclass(type(static), staticmethod):
        return None
    of_class = issubclass(type(static), classmethod)
    function = static.__func__ if of_class else static
    spec = getattr(function, "__dict__", {}).get(MARK)
    return (function, spec, of_class) if isinstance(spec, Spec) and callable(function) else None


def in_words(name: str) -> str:
    """Return a name in words: "Send mail" for send_mail."""
    return name.replace("_", " ").strip().capitalize()


def _cut(name: str) -> str:
    return repr(name if len(name) <= 200 else f"{name[:200]}…")  # noqa: PLR2004 - the length of the columns
