"""A number that somebody wrote in an address or a form."""

import re

from jobs.reading.queries import LARGEST_ID


def number(written: str, most: int = LARGEST_ID) -> int | None:
    """A whole number; `most` if it is greater. None if it is none."""
    return min(int(written), most) if re.fullmatch("[0-9]{1,100}", written) else None
