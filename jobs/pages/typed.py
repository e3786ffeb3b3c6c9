"""Read the text that a user typed in an address or a form; and show the arguments of a job, masked."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from jobs.calls.arguments import as_json
from jobs.calls.refusals import InvalidRequest
from jobs.models import JobRow
from jobs.reading.masked import DOTS, masked
from plumbing.bounds import LARGEST_ID
from plumbing.text import storable


def texts(given: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the texts of these fields, without spaces around them; "" for an empty or missing one."""
    return {name: storable(given.get(name, "")).strip() for name in names}


def shown(job: JobRow) -> str:
    return json.dumps({} if job.is_erased else masked(job.args), indent=2, ensure_ascii=False)


def arguments(text: str) -> dict[str, Any]:
    """Return the arguments by name that a user typed; none for an empty text. Raises InvalidRequest."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("args", f'must be a JSON object like {{"region": "EU"}}: {error}') from None
    if not isinstance(found, dict):
        raise InvalidRequest("args", 'must be a JSON object like {"region": "EU"}')
    if _has_dots(as_json(found)):
        raise InvalidRequest("args", f"{DOTS} stands for a masked value: type that value again")
    return found


def _has_dots(value: Any) -> bool:
    match value:
        case dict():
            return any(map(_has_dots, value.values()))
        case list():
            return any(map(_has_dots, value))
    return bool(value == DOTS)


def number(written: str, most: int = LARGEST_ID) -> int | None:
    """Return the whole number, at most `most`; None if the text is no number."""
    return min(int(written), most) if re.fullmatch("[0-9]{1,100}", written) else None
