"""The project's own Celery app: the file that makes it, which may have any name."""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from celery.app import app_or_default
from django.conf import settings as project

MAKES = re.compile(r"=\s*[\w.]*Celery\w*\(")  # also a class derived from Celery
LEFT_OUT = {"node_modules", "site-packages", "tests"}
OURS = Path(__file__).parents[2]


@dataclass(frozen=True)
class HostApp:
    """module: the one that makes the app. file: its path in the project. imported: whether manage.py has loaded it."""

    module: str
    file: str
    imported: bool


def host_app() -> HostApp | None:
    """Ask Celery for the app that the project has loaded, else look for one in its files."""
    return next(_loaded(), None) or next(_written(), None)


def root() -> Path:
    """The folder that holds the project's packages."""
    top = sys.modules[package()]
    return Path(next(iter(top.__path__)) if is_package() else top.__file__ or "").resolve().parent


def package() -> str:
    """The project's package; without one, the module of the settings."""
    return project.SETTINGS_MODULE.partition(".")[0]


def is_package() -> bool:
    return hasattr(sys.modules[package()], "__path__")


def _loaded() -> Iterator[HostApp]:
    app = app_or_default()  # the object behind `current_app`
    holders = [
        module
        for name, module in sorted(sys.modules.items(), key=lambda named: -named[0].count("."))
        if isinstance(module, ModuleType)
        and name.partition(".")[0] not in ("celery", "jobs")
        and any(value is app for value in list(vars(module).values()))
    ]
    for module in sorted(holders, key=lambda module: not _makes(module.__file__)):  # others have imported it from there
        if module.__file__:
            yield HostApp(module.__name__, _relative(module.__file__), imported=True)


def _written() -> Iterator[HostApp]:
    for file in sorted(_files(), key=lambda file: (len(file.parts), file)):
        if _makes(file):
            parts = [*file.relative_to(root()).with_suffix("").parts]
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            yield HostApp(module, _relative(file), imported=False)


def _files() -> Iterator[Path]:
    """The project's modules, without those of others."""
    for folder, inner, names in os.walk(root()):
        here = Path(folder)
        if "pyvenv.cfg" in names:
            inner.clear()
        else:
            inner[:] = [name for name in inner if name not in LEFT_OUT and name.isidentifier() and here / name != OURS]
            yield from (here / name for name in names if name.endswith(".py"))


def _makes(file: str | Path | None) -> bool:
    try:
        return bool(file and MAKES.search(Path(file).read_text(errors="replace")))
    except OSError:
        return False


def _relative(file: str | Path) -> str:
    path = Path(file).resolve()
    return (path.relative_to(root()) if path.is_relative_to(root()) else path).as_posix()
