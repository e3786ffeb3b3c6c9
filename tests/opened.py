"""A form as a browser has it open: what it would send, if nobody types."""

from html.parser import HTMLParser
from typing import Any


class _Fields(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {}
        self.select = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        said = dict(attributes)
        name, is_box = said.get("name") or "", said.get("type") in ("checkbox", "radio")
        if tag == "select":
            self.select = name
        elif tag == "option" and "selected" in said:
            self.found.setdefault(self.select, []).append(said.get("value") or "")
        elif tag == "input" and name and (not is_box or "checked" in said):
            self.found.setdefault(name, []).append(said.get("value") or ("on" if is_box else ""))


def opened(page: Any) -> dict[str, list[str]]:
    """The fields of an answer's forms, textareas apart: what they send by name."""
    fields = _Fields()
    fields.feed(page.content.decode())
    return fields.found
