"""A form as a browser has it open: what it would send, if nobody types."""

from html.parser import HTMLParser
from typing import Any


class _Fields(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, list[str]] = {}
        self.select = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        name, is_box = values.get("name") or "", values.get("type") in ("checkbox", "radio")
        if tag == "select":
            self.select = name
        elif tag == "option" and "selected" in values:
            self.values.setdefault(self.select, []).append(values.get("value") or "")
        elif tag == "input" and name and (not is_box or "checked" in values):
            self.values.setdefault(name, []).append(values.get("value") or ("on" if is_box else ""))


def opened(page: Any) -> dict[str, list[str]]:
    """The fields of an answer's forms, textareas apart: what they send by name."""
    fields = _Fields()
    fields.feed(page.content.decode())
    return fields.values
