"""Check arguments as JSON, their values and their size, and compare the arguments of two calls."""

import hashlib
import json
import math
import re
import uuid
from decimal import Decimal
from typing import Any

from jobs.calls.refusals import InvalidRequest, TooLarge
from jobs.conf import settings

LONGEST_PLACE = 200  # characters of a place such as args.a[3].b: it is built anew for each value, and a key may be long
MAX_DEPTH = 50  # levels of nesting; deeper values overflow the parsers on the way
EXPONENT = re.compile(r"[0-9]e[+-][0-9]")  # an exponent as Python writes it; it may also be part of a text
MAX_INTEGER_BITS = 10_000  # about 3,000 digits; Python refuses to read or write 4,300 or more

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def as_text(args: dict[str, Any]) -> str:
    """Return the JSON text of checked arguments. Raises TooLarge."""
    text = json.dumps(args)
    size, limit = size_of(args, text), settings.JOBS_ARGS_MAX_BYTES
    if size > limit:
        raise TooLarge("args", f"take {size} bytes as JSON; at most {limit} bytes ({limit // 1024} KiB) are allowed")
    return text


def stats_as_json(stats: Any) -> Any:
    """Return a job's stats as JSON. Raises InvalidRequest, also if they exceed JOBS_STATS_MAX_BYTES."""
    if stats == {}:  # as most jobs have it
        return {}
    checked = as_json(stats, "stats")
    size, limit = size_of(checked, json.dumps(checked)), settings.JOBS_STATS_MAX_BYTES
    if size > limit:
        raise InvalidRequest("stats", f"take {size:,} bytes as JSON; JOBS_STATS_MAX_BYTES allows {limit:,}")
    return checked


def size_of(value: Any, text: str) -> int:
    """Return the bytes of the value in JSON as PostgreSQL writes it: jsonb writes 1e+308 with all of its digits.

    text: the value's JSON in ASCII, so one character is one byte.
    """
    return len(text) + (_written_out(value) if EXPONENT.search(text) else 0)


def _written_out(value: Any) -> int:
    """Return how many digits jsonb adds to the numbers with exponents in a value."""
    if isinstance(value, float):
        text = float.__repr__(value)
        return len(f"{Decimal(text):f}") - len(text)
    within = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return sum(map(_written_out, within))


def as_json(value: Any, field: str = "args", depth: int = 0) -> Any:
    """Return the value as it reads after a round trip through JSON: tuples become lists, members of an enum values.

    Raises InvalidRequest, naming the place, for a value that JSON or PostgreSQL's jsonb cannot hold.
    """
    if depth == MAX_DEPTH and value and isinstance(value, (list, tuple, dict)):
        raise InvalidRequest(_root(field), f"are nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
        raise InvalidRequest(field, "is a number with too many digits")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__int__(value)  # of Python's own class: another process may not know that of the caller
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidRequest(field, f"{value!r} is not JSON; use a finite number or null")
        return float.__float__(value)
    if isinstance(value, str):
        return check_text(value, field)
    if isinstance(value, (list, tuple)):
        return [item if _is_plain(item) else as_json(item, f"{field}[{n}]", depth + 1) for n, item in enumerate(value)]
    if isinstance(value, dict):
        return {
            as_key(key, field): item if _is_plain(item) else as_json(item, f"{field}.{key}"[:LONGEST_PLACE], depth + 1)
            for key, item in value.items()
        }
    raise InvalidRequest(
        field, f"{type(value).__name__} is not JSON; use text, numbers, true/false, null, lists and objects"
    )


def _root(field: str) -> str:
    """Return the name before the place: "args" for args.a[3]. The place of a deep value is too long to read."""
    return re.split(r"[.\[]", field, maxsplit=1)[0]


def _is_plain(value: Any) -> bool:
    """Return whether the value needs no further check. For most values the name of their place is then never built."""
    kind = type(value)
    if kind is str:
        return value.isascii() and "\x00" not in value
    return value is None or kind is bool or (kind is int and value.bit_length() < 64)  # noqa: PLR2004


def as_key(key: Any, field: str) -> str:
    if not isinstance(key, str):
        raise InvalidRequest(field, f"has the key {key!r}; keys must be text")
    return check_text(key, field)


def check_text(value: str, field: str) -> str:
    """Return the text if PostgreSQL can store it. Raises InvalidRequest."""
    if "\x00" in value or (not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value)):
        raise InvalidRequest(field, "contains a NUL or a lone surrogate, which PostgreSQL cannot store")
    return str.__str__(value)


def digest(*parts: Any) -> uuid.UUID:
    """Return a key that is equal for equal parts, which must be JSON: 128 bits of SHA-256 over their canonical text."""
    return uuid.UUID(bytes=hashlib.sha256(_canonical(parts).encode()).digest()[:16])
