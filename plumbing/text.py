"""Text for people: durations and counts in words; and text of other people, made safe to store and show.

A terminal or a chat shows the control sequences in such a text, and does not execute them.
"""

import re
from functools import cache
from unicodedata import category

# Control characters except tab and line feed, and characters that change the writing direction.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_MOST_MARKS = 6  # on one letter; no living language needs more, and a hundred marks cover the lines around them
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b"}
_UNITS = (("d", "d", 86_400), ("h", "h", 3_600), ("min", "m", 60))
_SHORT = 10  # seconds, below which a tenth matters


def duration(seconds: float, *, tight: bool = False) -> str:
    """Return a duration in its largest unit: "4 min"; "4m" if tight."""
    seconds, space = max(seconds, 0.0), "" if tight else " "
    for unit, letter, size in _UNITS:
        if seconds >= size:
            number = f"{seconds / size:.{1 if seconds < 2 * size else 0}f}"
            return f"{number.removesuffix('.0')}{space}{letter if tight else unit}"
    return f"{seconds:.1f}{space}s" if seconds < _SHORT else f"{seconds:.0f}{space}s"


def count_of_jobs(count: int) -> str:
    """Return a count with its noun: "1 job", or "1,204 jobs"."""
    return "1 job" if count == 1 else f"{count:,} jobs"


def ordinal(number: int) -> str:
    """Return a number as a place: "1st", "12th", "1,203rd"."""
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def about(number: int, is_about: bool) -> str:
    """Return a number as text: "1,204", or "about 1,204" if it is not exact."""
    return f"{'about ' if is_about else ''}{number:,}"


def printable(text: str) -> str:
    """Escape the sequences that a terminal would execute: \\x1b[2J; and marks that pile up over the lines around."""
    escaped = _COMMANDS.sub(_escaped, text)
    return escaped if escaped.isascii() else _piled().sub(_escaped, escaped)


def _escaped(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]


@cache
def _piled() -> re.Pattern[str]:
    """Return a pattern for the marks on one letter beyond _MOST_MARKS.

    The first text that is not ASCII compiles it, which takes some 10 ms.
    """
    marks = "".join(letter for letter in map(chr, range(0x300, 0x10000)) if category(letter) in ("Mn", "Me"))
    return re.compile(f"[{marks}](?<=[{marks}]{{{_MOST_MARKS + 1}}})[{marks}]*")


def in_one_line(text: str) -> str:
    """Return printable text in one line, for places where a new line would look like another entry."""
    return printable(text).replace("\n", "\\n")


def in_json(document: str) -> str:
    """Return an equivalent JSON document: escape the characters that json leaves alone and a terminal executes."""
    return _COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def in_chat(text: str) -> str:
    """Return text for Slack and Mattermost, without links and without mentions (<!channel>, @all)."""
    return re.sub("[&<>@]", lambda match: _ENTITIES[match[0]], printable(text))


def storable(text: str) -> str:
    """Replace the characters that PostgreSQL cannot store: NUL and lone surrogates."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
