"""The numbers of jobs, which must not come again: bodies, messages, results and people's links know them."""

from typing import NamedTuple

from jobs.store.rows import objects, rows


class Numbers(NamedTuple):
    """given: the last number that was given to a job; greatest: that a job has; None: none.

    server_known: False if this server was promoted or restored, and no clock has led on it since.
    """

    given: int | None
    greatest: int | None
    server_known: bool


def numbers() -> Numbers:
    """Raises the database's error on a standby, and where the role may not ask which server it is."""
    return objects(Numbers, "numbers")[0]


def notice_server() -> bool:
    """Note the server; True if it is new, and not the first. Raises as `numbers` does."""
    found = rows("notice_server")
    return bool(found and found[0][0])


def skip_numbers(by: int) -> int:
    """Let the next job have a number that is greater by so many than all before; return it."""
    number: int = rows("skip_numbers", by=by)[0][0]
    return number + 1
