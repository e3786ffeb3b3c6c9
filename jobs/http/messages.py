"""Messages about fields, in one voice: what a field must be. Pydantic's own, "Input should be ...", is another."""

from typing import Any

MOMENT = 'must be a date and time with a zone, such as "2030-01-31T09:00:00+01:00"'
MESSAGES = {  # by the type of pydantic's error: each that a field of the API can cause
    "missing": "is required",
    "bool_type": "must be a boolean: true or false",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "list_type": "must be a list",
    "string_type": "must be a string",
    "string_unicode": "must be Unicode text, without single surrogates",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "too_long": "must have at most {max_length} items",
    "too_short": "must have at least {min_length} items",
    "int_type": "must be an integer",
    "int_from_float": "must be an integer",
    "int_parsing": "must be an integer",
    "int_parsing_size": "must be an integer with fewer digits",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "datetime_type": MOMENT,
    "timezone_aware": MOMENT,
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
}


def message(error: dict[str, Any]) -> str:
    """Return the message of an error of Ninja's: what the field must be."""
    if error["type"] == "extra_forbidden":
        return f"unknown field; allowed: {', '.join(error['allowed'])}"
    if template := MESSAGES.get(error["type"]):
        return template.format_map(error.get("ctx", {}))
    return str(error["msg"]).removeprefix("Value error, ")  # ours: a validator raised it
