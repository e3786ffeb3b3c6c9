"""The environments of the queues: `.venv/fair/NAME` for each adapter that has a list of pinned requirements."""

import hashlib
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
        _run("venv", "--quiet", "--clear", "--python", sys.executable, str(home))
        hashes = ["--require-hashes"] if "--hash=" in wanted.read_text() else []
        _run("pip", "install", "--quiet", *hashes, "--python", str(home), "-r", str(wanted))
        stamp.write_text(digest)
    return home / "bin" / "python"


def _run(*arguments: str) -> None:
    uv = Path(sys.executable).with_name("uv")
    try:
        subprocess.run([str(uv), *arguments], check=True, capture_output=True, text=True, timeout=PATIENCE)
    except FileNotFoundError:
        raise NotInstalled("uv is not in .venv; `make fair` installs it") from None
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"it took longer than {PATIENCE:g} s") from None
    except subprocess.CalledProcessError as error:
        words = " ".join(ADDRESS.sub("the registry", error.stderr).split())
        raise NotInstalled(words[:MOST] or f"uv ended with status {error.returncode}") from None
