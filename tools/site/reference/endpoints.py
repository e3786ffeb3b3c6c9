"""Every address of the HTTP API, from its OpenAPI document."""

from typing import Any

from tools.site.reference.cells import code, table

METHODS = ("get", "post", "put", "patch", "delete")


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Path, method and operation of each."""
    from jobs.api import api

    paths = api.get_openapi_schema(path_prefix="/api/v1/")["paths"]
    return [
        (path, method, methods[method]) for path, methods in paths.items() for method in METHODS if method in methods
    ]


def part() -> str:
    sections: dict[str, list[tuple[str, str]]] = {"For tenants": [], "For operators": []}
    for path, method, operation in operations():
        audience = "For operators" if "/operator/" in path else "For tenants"
        parameters = [parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "query"]
        text = operation.get("description") or operation.get("summary", "")
        more = f" Parameters: {', '.join(map(code, parameters))}." if parameters else ""
        sections[audience].append((code(f"{method.upper()} {path}"), text.split("\n\n")[0] + more))
    return "\n\n".join(
        f"## {audience}\n\n" + table(("request", "what it does"), rows) for audience, rows in sections.items()
    )
