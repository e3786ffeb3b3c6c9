"""What tests ask of the processes of a pool."""

import psutil


def is_gone(pid: int) -> bool:
    return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
