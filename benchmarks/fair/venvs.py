"""The environments of the queues: `.venv/fair/NAME` for each adapter that has a list of pinned requirements."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

from .peers import HERE, HOME

ADAPTERS = HERE / "adapters"
PATIENCE = 300.0  # seconds to install one
ADDRESS = re.compile(r"[`(]?https?://\S+")  # a mirror's address is nobody's business
MOST = 200  # characters of a reason


class NotInstalled(Exception):
    """The text is the reason."""


def names() -> list[str]:
    """All adapters."""
    return sorted(path.stem for path in ADAPTERS.glob("*.py") if not path.stem.startswith("_"))


def python(name: str) -> Path:
    """The Python in which this adapter runs; its environment is made, or renewed. Raises NotInstalled."""
    wanted = ADAPTERS / f"{name}.txt"
    if not wanted.is_file():
        return Path(sys.executable)  # what the project itself has
    home = HOME / ".venv" / "fair" / name
    stamp, digest = home / "installed", hashlib.sha256(wanted.read_bytes()).hexdigest()
    if not (stamp.is_file() and stamp.read_text() == digest):
        _run("venv", "--quiet", "--clear", "--no-python-downloads", "--python", _asked(wanted.read_text()), str(home))
        hashes = ["--require-hashes"] if "--hash=" in wanted.read_text() else []
        _run("pip", "install", "--quiet", *hashes, "--python", str(home), "-r", str(wanted))
        stamp.write_text(digest)
    return home / "bin" / "python"


def _asked(wanted: str) -> str:
    """Return the Python to ask uv for: the project's own, or that of the list's first line, as in `# python >=3.12`."""
    asked = re.match(r"# python (\S+)\n", wanted)
    return asked[1] if asked else sys.executable


def _path() -> str:
    """Return where uv looks for a Python: also where pyenv keeps those that are not in the PATH."""
    return os.pathsep.join([os.environ["PATH"], *map(str, sorted(Path.home().glob(".pyenv/versions/*/bin")))])


def _run(*arguments: str) -> None:
    uv = Path(sys.executable).with_name("uv")
    try:
        subprocess.run(
            [str(uv), *arguments], check=True, capture_output=True, text=True, timeout=PATIENCE,
            env={**os.environ, "PATH": _path()},
        )  # fmt: skip
    except FileNotFoundError:
        raise NotInstalled("uv is not in .venv; `make fair` installs it") from None
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"it took longer than {PATIENCE:g} s") from None
    except subprocess.CalledProcessError as error:
        lines = [line.strip() for line in error.stderr.strip().splitlines()]
        said = [line for line in lines if line.startswith(("error:", "×"))] or lines  # warnings stand before it
        words = ADDRESS.sub("the registry", said[0])[:MOST] if said else ""
        raise NotInstalled(words or f"uv ended with status {error.returncode}") from None
