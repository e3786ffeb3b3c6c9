"""The search of jobs: words such as `status:error tenant:acme`, or calls as they are shown, must all fit; or an id."""

from datetime import datetime

from jobs.authoring.text import storable
from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.filters import NAMES, Filter
from tenants.bounds import LARGEST_ID

DIGITS = 19
MOST_WORDS = 50  # of a search: each gets a link to the search without it


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
    found, words = Filter(), storable(typed).split()
    if len(words) > MOST_WORDS:
        raise InvalidRequest("q", f"has {len(words):,} words; at most {MOST_WORDS} are allowed")
    for word in words:
        name, colon, value = word.partition(":")
        if _is_call(name):
            name, colon, value = "type", ":", word
        if not (colon and value):
            raise InvalidRequest("q", f"{word!r} is not of the form name:value; names: {', '.join(NAMES)}")
        found.add(name, value, now)
    return found


def with_word(typed: str, name: str, value: str) -> str:
    """The search with this word more, in place of those of its name; "" if no word can say it."""
    if not value or len(value.split()) != 1 or value != value.strip():
        return ""
    return " ".join([*(word for word in typed.split() if _name(word) != name), f"{name}:{value}"])


def _name(word: str) -> str:
    name = word.partition(":")[0]
    return "type" if _is_call(name) else name.lower()


def _is_call(name: str) -> bool:
    """Whether it is the beginning of a call as the lists show it, which is searched by its type."""
    return "." in name and not name.startswith("args.")
