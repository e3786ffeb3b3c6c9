"""The parts of the reference that are made from the sources. A page has `<!-- generated: settings -->` where one goes.

On the repository's own pages the marks show nothing: there the sources are a click away.
"""

import re
from collections.abc import Callable

from tools.site.reference import checks, commands, conditions, endpoints, metrics, problems, python, settings

PARTS: dict[str, Callable[[], str]] = {
    "checks": checks.part,
    "commands": commands.part,
    "conditions": conditions.part,
    "endpoints": endpoints.part,
    "metrics": metrics.part,
    "problems": problems.part,
    "python": python.part,
    "settings": settings.part,
}
MARK = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)


def filled(text: str) -> str:
    """The text with the generated parts in their places."""
    return MARK.sub(lambda mark: PARTS[mark[1]](), text)
