"""The project's own Celery app: the file that makes it, which may have any name."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from celery.app import app_or_default

from jobs.checks.project_files import files, read, relative, root

MAKES = re.compile(r"=\s*[\w.]*Celery\w*\(")  # also a class derived from Celery


@dataclass(frozen=True)
class HostApp:
    """A Celery app of the project.

    module: the module that makes the app
    file: the path of that module in the project
    imported: whether manage.py has loaded it
    """

    module: str
    file: str
    imported: bool


def host_app() -> HostApp | None:
    """Return the app that the project has loaded; else one that its files make; None if there is none."""
    return next(_loaded(), None) or next(_written(), None)


def _loaded() -> Iterator[HostApp]:
    app = app_or_default()  # the object behind `current_app`
    holders = [
        module
        for name, module in sorted(sys.modules.items(), key=lambda named: -named[0].count("."))
        if isinstance(module, ModuleType)
        and name.partition(".")[0] not in ("celery", "jobs")
        and any(value is app for value in list(vars(module).values()))
    ]
    # The module that makes it comes first; the others have imported it from there.
    for module in sorted(holders, key=lambda module: not MAKES.search(read(module.__file__ or ""))):
        if module.__file__:
            yield HostApp(module.__name__, relative(module.__file__), imported=True)


def _written() -> Iterator[HostApp]:
    for file, text in files():
        if MAKES.search(text):
            parts = [*file.relative_to(root()).with_suffix("").parts]
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            yield HostApp(module, relative(file), imported=False)
