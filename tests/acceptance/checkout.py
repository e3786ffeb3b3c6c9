"""The project in another directory: what git holds, and nothing else."""

import re
import shutil
import subprocess
from importlib.util import cache_from_source
from pathlib import Path

from embedded import REPOSITORY


def files(named: str = "") -> list[str]:
    """Those that git holds, or those of them whose path begins so (a regular expression)."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True, text=True
    ).stdout
    return [name for name in listed.split("\0") if name and re.match(named, name)]


def checkout(directory: Path) -> None:
    """Copy all, with a link to the packages.

    With what Python has compiled: each program there would compile it anew, at once with the others.
    """
    for name in files():
        copied = directory / name
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, copied)
        if copied.suffix == ".py" and (compiled := Path(cache_from_source(REPOSITORY / name))).exists():
            (copied.parent / compiled.parent.name).mkdir(exist_ok=True)
            shutil.copy2(compiled, copied.parent / compiled.parent.name)
    (directory / ".venv").symlink_to(REPOSITORY / ".venv")
