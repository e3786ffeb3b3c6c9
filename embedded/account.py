"""The user that runs PostgreSQL, which refuses to run as root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from embedded import EmbeddedError

OTHERS = ("postgres", "nobody", "daemon")


@dataclass(frozen=True)
class Account:
    """prefix: becomes the user, before a command. ids: uid and gid of the user's files. By default the present user."""

    prefix: tuple[str, ...] = ()
    ids: tuple[int, int] | None = None


def choose() -> Account:
    """The present user; instead of root, another one. Raises `EmbeddedError` if there is none."""
    if os.geteuid() != 0:
        return Account()
    for name in OTHERS:
        try:
            other = pwd.getpwnam(name)
        except KeyError:
            continue
        # The capability lets it reach its programs and its data beneath directories of mode 0700.
        capabilities = "-all,+dac_override"
        prefix = ["setpriv", "--pdeathsig=keep", f"--reuid={other.pw_uid}", f"--regid={other.pw_gid}"]
        prefix += ["--clear-groups", f"--inh-caps={capabilities}", f"--ambient-caps={capabilities}", "--"]
        return Account(tuple(prefix), (other.pw_uid, other.pw_gid))
    raise EmbeddedError(f"PostgreSQL cannot run as root, and none of {', '.join(OTHERS)} exists.")


def own(directory: Path, account: Account) -> Path:
    """Create `directory`, private to `account`, unless it exists; what is in it then belongs to `account`."""
    directory.mkdir(mode=0o700, exist_ok=True)
    if account.ids and directory.stat().st_uid != account.ids[0]:
        for path in (directory, *directory.rglob("*")):
            os.chown(path, *account.ids, follow_symlinks=False)
    return directory


def run(account: Account, argv: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a program to its end as that account, and keep what it prints."""
    argv = [*account.prefix, *argv]
    return subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True)
