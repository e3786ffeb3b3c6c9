"""Links of the repository's pages, made into those of the site."""

import posixpath
import re
from pathlib import Path

from embedded import REPOSITORY

# The pages outside docs/, and their names on the site.
OUTSIDE = {
    "README.md": "first-look.md",
    "deploy/README.md": "deploy.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"(?<!!)\[((?:[^][]|\[[^][]*\])*)\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")
PICTURE = re.compile(r'(src(?:set)?)="(?!\w+:)([^"]+)"')


def on_site(path: str) -> str | None:
    """The name on the site of a page of the repository, relative to its root; None: it has none."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    inside = path.removeprefix("docs/")
    return inside if inside != path and Path(path).suffix in (".md", ".png", ".svg") else None


def relinked(text: str, page: str, source: str) -> str:
    """The text of a page of the repository, with the links of the site.

    page: its path from the root. source: the address of the repository's files, before their paths; without it a link
    to one becomes its words.
    """
    folder, base = posixpath.dirname(page), posixpath.dirname(on_site(page) or "")

    def target(name: str) -> tuple[str, str | None]:
        path = posixpath.normpath(posixpath.join(folder, name))
        there = on_site(path)
        return path, there and posixpath.relpath(there, base or ".")

    def link(match: re.Match[str]) -> str:
        words, name, anchor = match[1], match[2], match[3] or ""
        path, there = target(name)
        if there:
            return f"[{words}]({there}{anchor})"
        if not (REPOSITORY / path).exists():
            return match[0]  # the strict build tells it
        return f"[{words}]({source.rstrip('/')}/{path}{anchor})" if source else words

    def picture(match: re.Match[str]) -> str:
        there = target(match[2])[1]
        return f'{match[1]}="{there}"' if there else match[0]

    parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [PICTURE.sub(picture, LINK.sub(link, part)) for part in parts[::2]]
    return "".join(parts)
