"""The search of jobs: words such as `status:error tenant:acme`, which must all fit; or the id of a job."""

from datetime import datetime

from jobs.authoring.text import storable
from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.filters import NAMES, Filter
from jobs.reading.queries import LARGEST_ID

DIGITS = 19


def job_id(typed: str) -> int | None:
    """The id, if it is just a number. Raises InvalidRequest if no job can have it."""
    word = typed.strip()
    if not (word.isascii() and word.isdecimal()):
        return None
    if len(word) > DIGITS or int(word) > LARGEST_ID:
        raise InvalidRequest("id", f"no job has an id above {LARGEST_ID}")
    return int(word)


def read(typed: str, now: datetime) -> Filter:
    """The meaning of a search. Raises InvalidRequest, naming the word and what is allowed."""
    found = Filter()
    for word in storable(typed).split():
        name, colon, value = word.partition(":")
        if not (colon and value):
            raise InvalidRequest("q", f"{word!r} is not of the form name:value; names: {', '.join(NAMES)}")
        found.add(name, value, now)
    return found
