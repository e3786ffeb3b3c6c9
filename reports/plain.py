"""Turn values of a database into JSON values."""

import math
from datetime import date, datetime, time
from typing import Any


def plain(value: Any) -> Any:
    """The JSON value of `value`; types that JSON lacks become text.

    A numeric becomes text, digit by digit: a JSON number would become a binary float in some program, which is wrong
    for money. Infinity and NaN are not JSON either.
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
