"""The project's own source files."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings as project

LEFT_OUT = {"node_modules", "site-packages", "tests"}
OURS = Path(__file__).parents[1]


def package() -> str:
    """Return the project's package; without one, the module of the settings."""
    return project.SETTINGS_MODULE.partition(".")[0]


def is_package() -> bool:
    return hasattr(sys.modules[package()], "__path__")


def root() -> Path:
    """Return the folder that holds the project's packages."""
    top = sys.modules[package()]
    return Path(next(iter(top.__path__)) if is_package() else top.__file__ or "").resolve().parent


def files() -> Iterator[tuple[Path, str]]:
    """Yield the project's modules and their text, the outer ones first; without installed packages and tests."""
    for file in sorted(_files(), key=lambda file: (len(file.parts), file)):
        yield file, read(file)


def read(file: str | Path) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        return Path(file).read_text(errors="replace")
    except OSError:
        return ""


def relative(file: str | Path) -> str:
    """Return the path of a file in the project."""
    path = Path(file).resolve()
    return (path.relative_to(root()) if path.is_relative_to(root()) else path).as_posix()


def _files() -> Iterator[Path]:
    for folder, inner, names in os.walk(root()):
        path = Path(folder)
        if "pyvenv.cfg" in names:
            inner.clear()
        else:
            inner[:] = [name for name in inner if name not in LEFT_OUT and name.isidentifier() and path / name != OURS]
            yield from (path / name for name in names if name.endswith(".py"))
