"""Lists as GitHub reads them, made into those that Python-Markdown reads: it wants four spaces for each level."""

import re

ITEM = re.compile(r"( *)([-*+]|\d+[.)])( +)")
FENCE = re.compile(r" *(```+|~~~+)")
WIDTH = 4


def widened(text: str) -> str:
    """The text with what belongs to a list item indented by four spaces for each level."""
    lines: list[str] = []
    levels: list[int] = []  # of each open item, the column of its content
    fence, paragraph = "", ""  # the first line since the last empty one
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip():
            lines.append("")
            paragraph = ""
            continue
        item = None if fence else ITEM.match(line)
        if not fence:
            follows = bool(lines and lines[-1])  # a line right below text of an item belongs to it, however indented
            while levels and indent < levels[-1] and (item or not follows or FENCE.match(line)):
                levels.pop()
            if item and paragraph and not ITEM.match(paragraph):
                lines.append("")  # Python-Markdown begins no item inside a paragraph
                paragraph = ""
            paragraph = paragraph or line
        shift = levels[-1] if levels else 0
        lines.append(" " * (WIDTH * len(levels)) + line[min(shift, indent) :])
        if item:
            levels.append(item.end())
        if mark := FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
    return "\n".join(lines)
