"""Every setting of jobs/conf.py, and every other variable of deploy/.env.example, with its default and meaning."""

import io
import re
import tokenize
from collections.abc import Iterable
from pathlib import Path

from embedded import REPOSITORY
from jobs import conf
from tools.site.reference.cells import code, table

VARIABLES = REPOSITORY / "deploy/.env.example"
VARIABLE = re.compile(r"^#?([A-Z][A-Z0-9_]+)=(.*)$")
SECTION = re.compile(r"^# --- (.+?) -+$")
HEADER = ("name", "default", "meaning")
FIRST = ("JOBS_CACHE", "JOBS_QUEUES", "JOBS_DEFAULT_TIMEOUT", "JOBS_DEATH_WEBHOOK", "JOBS_METRICS_TOKEN")
Row = tuple[str, str, str]


def part() -> str:
    rest = [name for name in conf.ALL_SETTINGS if name not in FIRST]
    parts = [
        *("## Set these five", table(HEADER, library(FIRST))),
        *("## The other settings of the library", table(HEADER, library(rest))),
        "## Variables of this project",
    ]
    for title, rows in variables().items():
        further = [(code(name), code(default), text) for name, default, text in rows if name not in conf.ALL_SETTINGS]
        if further:
            parts.append(f"### {title}\n\n{table(HEADER, further)}")
    return "\n\n".join(parts)


def library(names: Iterable[str]) -> list[Row]:
    """Return the rows of these settings of the library; deploy/.env.example says more than a comment."""
    short, long = comments(), {name: text for rows in variables().values() for name, _, text in rows}
    return [
        (code(name), code(repr(conf.ALL_SETTINGS[name].default)), long.get(name) or short.get(name, ""))
        for name in names
    ]


def comments() -> dict[str, str]:
    """What jobs/conf.py says of a setting behind its default."""
    texts: dict[str, str] = {}
    name = ""
    for token in tokenize.generate_tokens(io.StringIO(Path(conf.__file__).read_text()).readline):
        if token.type == tokenize.NAME and token.string in conf.ALL_SETTINGS:
            name = token.string
        elif token.type == tokenize.COMMENT and name:
            texts[name] = token.string.lstrip("# ")
        elif token.type == tokenize.NEWLINE:
            name = ""
    return texts


def variables() -> dict[str, list[Row]]:
    """By section: name, default and meaning of each variable. Those below one text share it."""
    groups: dict[str, list[Row]] = {}
    title, text, fresh = "", "", False
    for line in VARIABLES.read_text().splitlines():
        if section := SECTION.match(line):
            title, text = section[1], ""
            groups[title] = []
        elif variable := VARIABLE.match(line):
            groups[title].append((variable[1], variable[2], text))
            fresh = False
        elif line.startswith("# "):
            text = f"{text} {line[2:]}" if fresh else line[2:]
            fresh = True
        else:
            fresh = False
    return groups
