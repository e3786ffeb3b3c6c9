"""The search of jobs: an id, a call as the lists show it, or filters such as `status:error tenant:acme`.

A job must match all words of a search, and none that begin with "-". A text in quotes is part of the last error.
"""

import re
from datetime import datetime

from django.db.models import Q

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.filters import NAMES, JobFilters
from jobs.console.ops.shared.known_types import known_types
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


def words(typed: str) -> list[str]:
    """Return the words of a search. What is in quotes is one word: "connection reset", user:"a b"."""
    return re.findall(r'(?:"[^"]*"|\S)+', typed)


def read(typed: str, now: datetime) -> JobFilters:
    """Return the filter that a search means. Raises InvalidRequest, which names the word and the allowed values."""
    found, typed_words = JobFilters(), words(storable(typed))
    if len(typed_words) > MOST_WORDS:
        raise InvalidRequest("q", f"has {len(typed_words):,} words; at most {MOST_WORDS} are allowed")
    for typed_word in typed_words:
        word = typed_word.removeprefix("-")
        if text := _unquoted(word):
            errors = Q(last_error__icontains=text)
            found.others &= errors if word == typed_word else ~errors
            continue
        name, value = _filter(word)
        (found.add if word == typed_word else found.leave_out)(name, value, now)
    return found


def bare(typed: str) -> str:
    """Return the words that are no filter, as one text: what the user may be looking for."""
    return " ".join(word for word in words(typed) if not (":" in word or "." in word or '"' in word))


def with_word(typed: str, name: str, value: str) -> str:
    """Return the search with this word instead of those of the same name; "" if no word can hold the value."""
    if not value or value != value.strip() or '"' in value:
        return ""
    held = value if len(value.split()) == 1 else f'"{value}"'
    return " ".join([*(word for word in words(typed) if _name(word) != name), f"{name}:{held}"])


def _filter(word: str) -> tuple[str, str]:
    """Return name and value of a word's filter. Raises InvalidRequest."""
    name, colon, value = word.partition(":")
    if _is_call(name) or (not colon and word in _methods()):
        return "type", word
    if not (colon and value):
        raise InvalidRequest("q", f"{word!r} is not of the form name:value; names: {', '.join(NAMES)}")
    return name, value if name.startswith("args.") else _unquoted(value) or value  # the value of args. is JSON


def _name(word: str) -> str:
    name = word.partition(":")[0]
    return "type" if _is_call(name) or (name == word and word in _methods()) else name.lower()


def _unquoted(word: str) -> str:
    """Return the text between the quotes; "" if there is none, or if the word is not in quotes."""
    found = re.fullmatch('"([^"]+)"', word)
    return found[1] if found else ""


def _methods() -> set[str]:
    return {name.rpartition(".")[2] for name in known_types()}


def _is_call(name: str) -> bool:
    """Return whether it begins a call as the lists show it, so that it means a search by job type."""
    return "." in name and not name.startswith("args.")
