"""Become a command that is signalled when its parent dies.

    python -IS tether.py SIGNAL PARENT_PID UID GID COMMAND [ARG...]

A program of its own rather than a `preexec_fn`: that one runs Python between fork and exec, which may
deadlock when the parent has threads (and warns from Python 3.12 on). UID and GID are -1 to stay who we are.
The exit status is 127 when COMMAND is not there, and 126 when it cannot be executed, as in a shell.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(argv: list[str]) -> None:
    """Drop privileges, ask for the signal, then exec: it keeps the pid."""
    death_signal, parent, uid, gid = (int(word) for word in argv[:4])
    command = argv[4:]
    # Python ignores these for itself, and what is ignored stays so through exec: the command, and every
    # pipeline it starts, would see EPIPE where they expect to die quietly.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        # After setuid, which would clear it.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal)
        if os.getppid() != parent:  # it died before we asked, so no signal will come
            os._exit(128 + death_signal)
    try:
        os.execvp(command[0], command)  # noqa: S606  # which is the point
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


if __name__ == "__main__":
    main(sys.argv[1:])
