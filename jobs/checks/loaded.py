"""Checks that need the models: of JOBS_QUEUES, of the marks of jobs, and of the needs of bodies and pages."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings as project
from django.contrib.messages.middleware import MessageMiddleware
from django.core.checks import Tags
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils.module_loading import import_string

from jobs.calls import functions, registry
from jobs.calls.owners import path_of
from jobs.calls.refusals import InvalidRequest, by_field
from jobs.conf import settings
from jobs.models import Job, Queue
from plumbing.addresses import address
from plumbing.faults import Fault, check
from tenants.checks import is_function_or_unset

FIELDS = {field.name for field in Queue._meta.concrete_fields} - {"id", "name"}


@check("jobs.E020")
def paths_to_the_tenant() -> Iterator[Fault]:
    """A missing path would show only at the first submit, or in the worker."""
    for model in _of_objects():
        try:
            path_of(model)
        except InvalidRequest as error:
            if error.field == "tenant":
                missing, hint = "tenant", "Set jobs_tenant of the model to the path of foreign keys that leads to it: "
                hint += 'jobs_tenant = "shop", "order__shop", or "pk" if the model itself is the tenant.'
            else:
                missing, hint = "object", "Mark methods of the class @job, and let them take the columns as arguments."
            yield f"The jobs of {model._meta.label} find no {missing}: {error.message}.", hint, model


@check("jobs.W015")
def marks_have_an_effect() -> Iterator[Fault]:
    """A lost mark would show only at the first call, or when jobs that waited before an override end as errors."""
    for model in apps.get_models():
        for name, why in registry.unheeded(model).items():
            hint = 'Or say that it is meant: add "jobs.W015" to SILENCED_SYSTEM_CHECKS.'
            yield f"{model._meta.label}.{name} is not a job: {why}.", hint, model


@check("jobs.W016")
def keys_are_short() -> Iterator[Fault]:
    """A submit refuses a longer key."""
    limit = Job._meta.get_field("source_id").max_length
    for model in _of_objects():
        longest = _key(model).max_length
        if longest is not None and longest > limit:
            hint = f"Take a key of at most {limit} characters, or let jobs of the class take the key as an argument."
            yield (
                f"Keys of {model._meta.label} may have {longest} characters, and no job names one over {limit}.",
                hint,
                model,
            )


@check("jobs.W017")
def defaults_are_of_one_call() -> Iterator[Fault]:
    """A process runs the jobs of many tenants: a value that one adds to a default reaches the others."""
    for target in registry.targets():
        for name, default in target.signature.defaults.items():
            if isinstance(default, (list, dict, set, bytearray)):
                hint = "Take None as the default, and make the value in the body."
                yield f"{target}: the default of {name} is a {type(default).__name__}, which all tenants share.", hint


@check("jobs.E030")
def functions_have_their_names() -> Iterator[Fault]:
    """A hidden function would run without the decorators above @job, or show only at its first submit."""
    functions.discover()
    for name in functions.hidden():
        hint = "Put @job on top of the decorators, or let them use functools.wraps."
        yield f"{name} {functions.HIDDEN}.", hint


@check("jobs.E021")
def around() -> Iterator[Fault]:
    """Every job would end with an error if JOBS_AROUND were no function."""
    if not is_function_or_unset(settings.JOBS_AROUND):
        hint = 'Set JOBS_AROUND to "module.function": of the running job, it returns a context manager. Or unset it.'
        yield f"JOBS_AROUND is {settings.JOBS_AROUND!r}: no function.", hint


@check("jobs.E023")
def queues_can_be_made() -> Iterator[Fault]:
    """A queue that `migrate` could not store is refused before, by its name."""
    for name, values in settings.JOBS_QUEUES.items():
        for field, why in _faults(name, values):
            where = f'JOBS_QUEUES["{name}"]' + (f'["{field}"]' if field else "")
            yield f"{where}: {why}", f"A queue has the fields {', '.join(sorted(FIELDS))}."


@check("jobs.E026", Tags.urls)
def messages_are_kept() -> Iterator[Fault]:
    """Our pages show in messages what an action did. Without them the action would happen, and the answer be 500."""
    has_pages = getattr(project, "ROOT_URLCONF", None) and (
        address("jobs_ops:overview") or address("jobs_members:jobs")
    )
    if has_pages and not any(map(_keeps_messages, project.MIDDLEWARE)):
        hint = 'Add "django.contrib.messages.middleware.MessageMiddleware" to MIDDLEWARE, after SessionMiddleware.'
        yield "The pages of operators and members cannot say what an action did.", hint


def _of_objects() -> list[type[Model]]:
    """Return the models with jobs of objects. For a method of the class, the caller of the submit names the tenant."""
    models = {
        target.model: None for target in registry.of_models() if target.model is not None and not target.class_level
    }
    return list(models)


def _key(model: type[Model]) -> Any:
    """Return the field of the key; if it is a reference, the field that it leads to."""
    key: Any = model._meta.pk
    while key.remote_field:
        key = key.target_field
    return key


def _keeps_messages(path: str) -> bool:
    try:
        middleware = import_string(path)
    except ImportError:  # a web process would report it
        return False
    return isinstance(middleware, type) and issubclass(middleware, MessageMiddleware)


def _faults(name: str, values: Any) -> list[tuple[str, str]]:
    """Return fields and the fault of each; the field is empty for the name and for the whole."""
    if not isinstance(values, dict):
        return [("", f"{values!r} is no dictionary of fields.")]
    if unknown := sorted(set(values) - FIELDS):
        return [(field, "There is no such field.") for field in unknown]
    try:
        queue = Queue(name=name, **values)
        queue.clean_fields()
        queue.clean()
    except ValidationError as error:
        return [("" if field == "name" else field, text) for field, text in by_field(error).items()]
    return []
