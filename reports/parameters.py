"""The parameters of a report: declared in JSON, placed in its SQL as `%(name)s`, bound to values at each run.

`%(name)s` is psycopg's own notation, so no parser of ours has to distinguish a `:name` from a `::cast`, a string
or a comment: the values are always sent apart from the SQL. A literal `%` is written `%%`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from jobs import TenantError

Scalar = str | int | float | bool
Declarations = Sequence[Mapping[str, Any]]

_PLACEHOLDER = re.compile(r"%(?:%|\((?P<name>\w+)\)s|(?P<other>.?))", re.DOTALL)
_MEMBERS = {"name", "default", "choices", "label"}


class InvalidParameters(TenantError, ValueError):
    """The values of a run or the declarations of a report are invalid; the message names each parameter."""


@dataclass(frozen=True)
class Parameter:
    """A parameter, declared as `{"name": "state", "label": "State", "default": "CA", "choices": ["CA"]}`."""

    name: str
    label: str
    default: Scalar | None = None  # None: the run must give a value
    choices: tuple[Scalar, ...] = ()  # empty: any value of the default's kind

    @property
    def kind(self) -> str:
        """The parameter's kind as the type of an HTML input: "checkbox", "number", "date" or "text"."""
        match self.default if self.default is not None else next(iter(self.choices), None):
            case bool():
                return "checkbox"
            case int() | float():
                return "number"
            case str(text) if _is_date(text):
                return "date"
            case _:
                return "text"

    @property
    def shown_choices(self) -> list[tuple[Scalar, str]]:
        """Each choice with its text for people: 100,000. A number below 10,000 may be a year, and has no separator."""
        return [(choice, f"{choice:,}" if _is_large(choice) else str(choice)) for choice in self.choices]

    def problem(self, value: Any) -> str | None:
        """Return the reason why `value` is invalid; None if it is valid."""
        if value is None:
            return f"{self.name} is required"
        if self.choices:
            allowed = ", ".join(map(str, self.choices))
            # True == 1 in Python; 1 and 1.0 are one choice, as they are one number in JSON.
            truth = isinstance(value, bool)
            known = any(value == choice and truth == isinstance(choice, bool) for choice in self.choices)
            return None if known else f"{self.name} must be one of {allowed}"
        number = isinstance(value, int | float) and not isinstance(value, bool)
        fits = {
            "checkbox": isinstance(value, bool),
            "number": number,
            "date": isinstance(value, str) and _is_date(value),
            "text": isinstance(value, str),
        }
        wanted = {
            "checkbox": "true or false",
            "number": "a number",
            "date": "a date like 2024-12-31",
            "text": "a text",
        }
        return None if fits[self.kind] else f"{self.name} must be {wanted[self.kind]}"


def declared(declarations: Declarations) -> list[Parameter]:
    """Read a report's declarations, in their order.

    Raises `InvalidParameters` if one is malformed, is declared twice, or has an invalid default.
    """
    if not isinstance(declarations, list):
        raise InvalidParameters("parameters must be declared as a list")
    parameters: dict[str, Parameter] = {}
    problems = []
    for members in declarations:
        if not _well_formed(members):
            problems.append(f'{members} must be like {{"name": "state", "default": "CA", "choices": ["CA", "TX"]}}')
            continue
        name = members["name"]
        label = members.get("label") or name.replace("_", " ").capitalize()
        parameter = Parameter(name, label, members.get("default"), tuple(members.get("choices", ())))
        if name in parameters:
            problems.append(f"{name} is declared twice")
        if parameter.default is not None and (problem := parameter.problem(parameter.default)):
            problems.append(f"default of {problem}")
        parameters[name] = parameter
    if problems:
        raise InvalidParameters("; ".join(problems))
    return list(parameters.values())


def _well_formed(members: Any) -> bool:
    return (
        isinstance(members, Mapping)
        and _MEMBERS.issuperset(members)
        and isinstance(members.get("name"), str)
        and members["name"].isidentifier()
        and isinstance(members.get("label", ""), str)
        and isinstance(members.get("choices", []), list)
        and all(isinstance(value, Scalar) for value in members.get("choices", []))
        and isinstance(members.get("default"), Scalar | None)
    )


def bind(declarations: Declarations, values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return values for every declared parameter, with defaults filled in.

    Raises `InvalidParameters`, naming every parameter that is unknown, missing or invalid.
    """
    parameters = declared(declarations)
    values = values or {}
    if not isinstance(values, Mapping):
        raise InvalidParameters('parameters must be an object: {"state": "CA"}')
    bound = {p.name: values.get(p.name, p.default) for p in parameters}
    problems = [f"{name} is not a parameter of this report" for name in sorted(set(values) - set(bound))]
    problems += [problem for p in parameters if (problem := p.problem(bound[p.name]))]
    if problems:
        raise InvalidParameters("; ".join(problems))
    return bound


def placed(sql: str) -> set[str]:
    """Return the names of the parameters placed in `sql`. Raises `InvalidParameters` on any other `%` than `%%`."""
    names = set()
    for match in _PLACEHOLDER.finditer(sql):
        if match["other"] is not None:
            raise InvalidParameters(f"write %% for a literal %, at character {match.start() + 1}")
        if match["name"]:
            names.add(match["name"])
    return names


def _is_large(value: Scalar) -> bool:
    return isinstance(value, int | float) and abs(value) >= 10_000  # noqa: PLR2004


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
