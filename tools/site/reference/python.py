"""Every public Python name: where it is imported from, its parameters, and what it says of itself."""

import inspect
from importlib import import_module

MODULES = ("jobs", "jobs.contrib.testing", "jobs.contrib.celery_tasks", "jobs.contrib.django_tasks")
ALONE = {"jobs.celery": ("configure",), "jobs.signals": ("job_died",)}


def names() -> dict[str, list[str]]:
    """The public names by module."""
    return {module: list(import_module(module).__all__) for module in MODULES} | {m: list(n) for m, n in ALONE.items()}


def part() -> str:
    return "\n\n".join(_module(module, public) for module, public in names().items())


def _module(module: str, public: list[str]) -> str:
    home = import_module(module)
    return "\n\n".join([f"## from {module} import …", *(_entry(name, getattr(home, name)) for name in public)])


def _entry(name: str, thing: object) -> str:
    text = "" if isinstance(thing, (dict, str, int)) else inspect.getdoc(thing) or ""
    is_documented = inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing)
    documentation = f"\n\n```text\n{text}\n```" if text and is_documented else ""
    return f"### {name}\n\n`{name}{_parameters(thing)}`{documentation}"


def _parameters(thing: object) -> str:
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return ""
    try:
        return str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(…)"
