"""Read a body: UTF-8, one value for each name, with the right content type."""

import json
from typing import Any

from django.http import HttpRequest
from ninja.parser import Parser

from jobs.portal.api.problems import ProblemError

JSON = "application/json"


class StrictParser(Parser):
    """Raises ValueError for a body that is not JSON, and a problem for a wrong content type."""

    def parse_body(self, request: HttpRequest) -> Any:
        if request.content_type != JSON:
            message = f"must be {JSON}, not {(request.content_type or 'left out')[:100]}"
            raise ProblemError.unfit({"Content-Type": message}, 415)
        text = request.body.decode()
        try:
            return json.loads(text, object_pairs_hook=_once)
        except json.JSONDecodeError:
            raise
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        except ValueError as error:  # Python's message is about Python's own limits
            raise error if isinstance(error, TwiceError) else ValueError("a number has too many digits") from None


class TwiceError(ValueError):
    """A name appears twice in one object, so its value is ambiguous."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise TwiceError(f"{twice[:100]!r} appears twice in one object")
    return document
