"""What somebody wrote in an address or a form: a number; the arguments of a job, shown without what is masked."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from jobs.authoring.text import storable
from jobs.calls.arguments import as_json
from jobs.calls.refusals import InvalidRequest
from jobs.models import JobRow
from jobs.reading.masked import DOTS, masked
from tenants.bounds import LARGEST_ID


def texts(given: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """What stands in these fields, without spaces around it; "" where nothing does."""
    return {name: storable(given.get(name, "")).strip() for name in names}


def shown(job: JobRow) -> str:
    return json.dumps({} if job.is_erased else masked(job.args), indent=2, ensure_ascii=False)


def arguments(text: str) -> dict[str, Any]:
    """The arguments by name that somebody typed; none if nothing. Raises InvalidRequest."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("args", f'must be a JSON object like {{"region": "EU"}}: {error}') from None
    if not isinstance(found, dict):
        raise InvalidRequest("args", 'must be a JSON object like {"region": "EU"}')
    if _has_dots(as_json(found)):
        raise InvalidRequest("args", f"{DOTS} stands for a value that nobody is shown: type that value again")
    return found


def _has_dots(value: Any) -> bool:
    match value:
        case dict():
            return any(map(_has_dots, value.values()))
        case list():
            return any(map(_has_dots, value))
    return bool(value == DOTS)


def number(written: str, most: int = LARGEST_ID) -> int | None:
    """A whole number; `most` if it is greater. None if it is none."""
    return min(int(written), most) if re.fullmatch("[0-9]{1,100}", written) else None
