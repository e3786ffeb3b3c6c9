"""Become a command that gets a signal when its parent dies.

    python -IS tether.py SIGNAL PARENT_PID UID GID COMMAND [ARG...]

This is a program, not a `preexec_fn`, which runs Python between fork and exec: that may deadlock if the parent has
threads (and warns from Python 3.12 on). UID and GID -1 keep the present user.
The exit status is 127 if COMMAND does not exist, and 126 if it cannot be executed, as in a shell.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(argv: list[str]) -> None:
    """Drop privileges, request the signal, then exec, which keeps the pid."""
    death_signal, parent, uid, gid = (int(word) for word in argv[:4])
    command = argv[4:]
    # Python ignores these signals, and exec keeps ignored signals: the command and its pipelines would get EPIPE
    # instead of dying quietly.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    # After setuid, which clears it.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal)
    if os.getppid() != parent:  # it died before our request, so no signal will come
        os._exit(128 + death_signal)
    try:
        os.execvp(command[0], command)  # noqa: S606  # the purpose of this program
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


if __name__ == "__main__":
    main(sys.argv[1:])
