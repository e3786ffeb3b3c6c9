"""Become a command that gets a signal when its parent dies.

    python -IS tether.py SIGNAL PARENT_PID ALONE NOT_ROOT COMMAND [ARG...]

This is a program, not a `preexec_fn`, which runs Python between fork and exec: that may deadlock if the parent has
threads (and warns from Python 3.12 on).

ALONE, 0 or 1: wait until an earlier command with ALONE in this working directory, and all that it forked, have ended.
NOT_ROOT, 0 or 1: if we are root, become the unprivileged user of `become_nobody`.

The exit status is 127 if COMMAND does not exist, and 126 if it cannot be executed, as in a shell.
"""

import ctypes
import fcntl
import os
import pwd
import signal
import struct
import sys
from pathlib import Path

# Of linux/prctl.h, securebits.h and capability.h
PR_SET_PDEATHSIG, PR_SET_SECUREBITS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 1, 28, 47, 2
SECBIT_NO_SETUID_FIXUP, CAPABILITY_VERSION_3, CAP_DAC_OVERRIDE = 4, 0x20080522, 1
libc = ctypes.CDLL(None)


def main(argv: list[str]) -> None:
    """Give up root, request the signal, wait for our turn, then exec, which keeps the pid."""
    death_signal, parent, alone, not_root = (int(word) for word in argv[:4])
    command = argv[4:]
    # Python ignores these signals, and exec keeps ignored signals: the command and its pipelines would get EPIPE
    # instead of dying quietly.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    if not_root and os.geteuid() == 0:
        become_nobody()
    # After setuid, which clears it.
    libc.prctl(PR_SET_PDEATHSIG, death_signal)
    if os.getppid() != parent:  # the parent died before our request, so no signal will come
        os._exit(128 + death_signal)
    if alone:
        lock_working_directory()
    try:
        os.execvp(command[0], command)  # noqa: S606  # the purpose of this program
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def become_nobody() -> None:
    """Change the user, but keep root's access to directories: data and programs may be under a home of mode 0700."""
    account = pwd.getpwnam("nobody")
    # Else setuid would drop capabilities, and access(), by which PostgreSQL finds its programs, would ignore them.
    libc.prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)
    os.setgroups([])
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    kept = 1 << CAP_DAC_OVERRIDE
    libc.capset(struct.pack("Ii", CAPABILITY_VERSION_3, 0), struct.pack("6I", kept, kept, kept, 0, 0, 0))
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0)  # through exec


def lock_working_directory() -> None:
    """Wait for the processes that a killed launcher left here: they get their signal, too, but do not end at once."""
    directory = os.open(".", os.O_RDONLY)
    os.set_inheritable(directory, True)  # the command and all that it forks hold it until the last one ends
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.stderr.write(f"A process of an earlier run still works in {Path.cwd()}.\n")
        fcntl.flock(directory, fcntl.LOCK_EX)


if __name__ == "__main__":
    main(sys.argv[1:])
