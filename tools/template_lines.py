"""Find the lines of templates that nobody can review: `make lint` fails if one is longer than those of Python."""

import sys
from pathlib import Path

MAX_LENGTH = 120  # characters
APPS = ("jobs", "tenants", "reports")


def long_lines() -> list[str]:
    """`path:line: length` of each line that is too long."""
    return [
        f"{path}:{number}: {len(line)} characters, more than {MAX_LENGTH}"
        for app in APPS
        for path in sorted(Path(app).rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > MAX_LENGTH
    ]


if __name__ == "__main__":
    sys.exit("\n".join(long_lines()) or 0)
