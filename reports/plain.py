"""Values of a database as JSON."""

import math
from datetime import date, datetime, time
from typing import Any


def plain(value: Any) -> Any:
    """`value` as JSON keeps it; what JSON has no word for becomes its text.

    A numeric becomes a text, digit by digit: as a JSON number it would pass through a binary float somewhere,
    and money must not. Infinity and NaN are no JSON either.
    """
    match value:
        case None | bool() | int() | str():
            found: Any = value
        case float() if math.isfinite(value):
            found = value
        case datetime() | date() | time():
            found = value.isoformat()
        case bytes() | memoryview():
            found = bytes(value).hex()
        case list() | tuple():
            found = [plain(item) for item in value]
        case dict():
            found = {str(key): plain(item) for key, item in value.items()}
        case _:
            found = str(value)
    return found
