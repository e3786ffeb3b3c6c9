"""Every condition, with its runbook."""

import re

from embedded import REPOSITORY
from jobs.reading.health import RULES
from tools.site.reference.cells import table


def part() -> str:
    codes = {"no_database": "critical"} | {rule.code: rule.severity for rule in RULES}
    return table(
        ("condition", "severity", "what it means"), [(_link(code), codes[code], _means(code)) for code in codes]
    )


def _link(code: str) -> str:
    return f"[`{code}`](../runbooks/{code}.md)"


def _means(code: str) -> str:
    title = (REPOSITORY / f"docs/runbooks/{code}.md").read_text().partition("\n")[0]
    return re.sub(r" \(`\w+`\)$", "", title.removeprefix("# "))
