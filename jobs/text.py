"""Text of strangers, made fit to be stored and shown: what a terminal or a chat would obey is shown, and not obeyed."""

import re

# Control characters but tab and line feed, and those that turn the direction of what follows.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b"}


def printable(text: str) -> str:
    """With what a terminal would take for a command in words: \\x1b[2J."""
    return _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)


def in_one_line(text: str) -> str:
    """The same, where a new line would look like another entry."""
    return printable(text).replace("\n", "\\n")


def in_json(document: str) -> str:
    """A JSON document that means the same: what json leaves as it is, and a terminal does not, is escaped."""
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def in_chat(text: str) -> str:
    """For Slack and Mattermost: no link, and nobody is called (<!channel>, @all)."""
    return re.sub("[&<>@]", lambda found: _ENTITIES[found[0]], printable(text))


def storable(text: str) -> str:
    """Without what PostgreSQL's text cannot hold: NUL and lone surrogates."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
