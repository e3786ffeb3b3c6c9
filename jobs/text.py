"""Make strangers' text safe to store and show: a terminal or a chat shows control sequences and does not obey them."""

import re

# Control characters except tab and line feed, and characters that change the writing direction.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b"}


def printable(text: str) -> str:
    """Escape the sequences that a terminal would obey: \\x1b[2J."""
    return _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)


def in_one_line(text: str) -> str:
    """The same in one line, for places where a new line would look like another entry."""
    return printable(text).replace("\n", "\\n")


def in_json(document: str) -> str:
    """An equivalent JSON document: escape the characters that json leaves alone and a terminal obeys."""
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def in_chat(text: str) -> str:
    """For Slack and Mattermost: without links and without mentions (<!channel>, @all)."""
    return re.sub("[&<>@]", lambda found: _ENTITIES[found[0]], printable(text))


def storable(text: str) -> str:
    """Replace the characters that PostgreSQL cannot store: NUL and lone surrogates."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
