"""Every address of the HTTP API, from its OpenAPI document."""

from typing import Any

from tools.site.reference.cells import code, table

METHODS = ("get", "post", "put", "patch", "delete")


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Path, method and operation of each."""
    from jobs.api import api

    paths = api.get_openapi_schema(path_prefix="/api/v1/")["paths"]
    return [(path, method, one[method]) for path, one in paths.items() for method in METHODS if method in one]


def part() -> str:
    told: dict[str, list[tuple[str, str]]] = {"For tenants": [], "For operators": []}
    for path, method, operation in operations():
        whose = "For operators" if "/operator/" in path else "For tenants"
        parameters = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
        text = operation.get("description") or operation.get("summary", "")
        more = f" Parameters: {', '.join(map(code, parameters))}." if parameters else ""
        told[whose].append((code(f"{method.upper()} {path}"), text.split("\n\n")[0] + more))
    return "\n\n".join(f"## {whose}\n\n" + table(("request", "what it does"), rows) for whose, rows in told.items())
