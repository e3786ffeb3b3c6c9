"""Mask the arguments that no page may show: those whose names look like secrets."""

from typing import Any

from jobs.conf import settings

DOTS = "•••"


def masked(value: Any) -> Any:
    """Return the JSON value with DOTS for each value whose name contains a word of JOBS_MASKED_ARGS."""
    if isinstance(value, dict):
        return {name: DOTS if is_secret(name) else masked(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [masked(inner) for inner in value]
    return value


def is_secret(name: str) -> bool:
    """Return whether an argument of this name is masked, in any spelling: api_key, API-Key, apiKey."""
    letters = _letters(name)
    return any(_letters(word) in letters for word in settings.JOBS_MASKED_ARGS)


def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
