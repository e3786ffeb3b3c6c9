"""The search of jobs: an id, a call as the lists show it, or filters such as `status:error tenant:acme`.

A job must match all words of a search.
"""

from datetime import datetime

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.filters import NAMES, JobFilters
from plumbing.bounds import LARGEST_ID
from plumbing.text import storable

DIGITS = 19
MOST_WORDS = 50  # of a search: the page has a link to the search without each of them


def job_id(typed: str) -> int | None:
    """Return the id, if the text is only a number. Raises InvalidRequest if no job can have that id."""
    word = typed.strip()
    if not (word.isascii() and word.isdecimal()):
        return None
    if len(word) > DIGITS or int(word) > LARGEST_ID:
        raise InvalidRequest("id", f"no job has an id above {LARGEST_ID}")
    return int(word)


def read(typed: str, now: datetime) -> JobFilters:
    """Return the filter that a search means. Raises InvalidRequest, which names the word and the allowed values."""
    found, words = JobFilters(), storable(typed).split()
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
    """Return the search with this word instead of those of the same name; "" if one word cannot hold the value."""
    if not value or len(value.split()) != 1 or value != value.strip():
        return ""
    return " ".join([*(word for word in typed.split() if _name(word) != name), f"{name}:{value}"])


def _name(word: str) -> str:
    name = word.partition(":")[0]
    return "type" if _is_call(name) else name.lower()


def _is_call(name: str) -> bool:
    """Return whether it begins a call as the lists show it, so that it means a search by job type."""
    return "." in name and not name.startswith("args.")
