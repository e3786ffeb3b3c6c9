"""The start page of the API, for people: a key, the first call, errors, lists, events, webhooks, and every address."""

import json
import shlex
from functools import partial
from typing import Any

from django.db import models
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase

from jobs.calls import registry
from jobs.calls.owners import path_of
from jobs.calls.refusals import InvalidRequest
from jobs.calls.sources import in_sight, manager_of
from jobs.conf import documented, settings
from jobs.http.auth import is_logged_in
from jobs.http.codes import ProblemCode
from plumbing.rendering import page
from tenants.members import tenant_of_request
from tenants.models import Tenant

MOST_TRIED = 5  # job types that are tried as the member's example, each with a query
PLACEHOLDER = {"source_type": "app.model", "source_id": "ID", "source_method": "METHOD"}


class StartPage(DocsBase):
    """The page at `docs`. It needs no login, and has nothing of a tenant, except for a member: a call of its own."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        tenant = tenant_of_request(request) if is_logged_in(request) else None
        call = None if tenant is None else example_of(tenant)
        root = reverse(f"{api.urls_namespace}:api-root", kwargs=kwargs)
        for_tenants = _addresses(api.get_openapi_schema(path_params=kwargs)["paths"], root)
        for_operators = for_tenants.pop("operators")
        values = {
            "api": api,
            "url": request.build_absolute_uri(root).rstrip("/"),
            "tenant": tenant,
            "is_example": call is not None,
            "body": shlex.quote(json.dumps(call or PLACEHOLDER)),
            "codes": list(ProblemCode),
            "for_tenants": for_tenants,
            "for_operators": for_operators,
            "guide": {name: documented(name) for name in ("calls", "results", "webhooks")}
            if settings.JOBS_DOCS_URL
            else {},
        }
        return page(request, "jobs/api/start.html", values)


def example_of(tenant: Tenant) -> dict[str, Any] | None:
    """Return a call that works for this tenant as it is: one without arguments, on an object of its own if on any.

    None: this process knows no such call.
    """
    callable_by_http = (target for target in registry.targets() if target.spec.http)
    for target, _ in zip(callable_by_http, range(MOST_TRIED), strict=False):
        try:
            target.bind((), {})
            source_id = None if target.model is None or target.class_level else _own_object(target.model, tenant.pk)
        except InvalidRequest:  # it needs arguments, or its model has no path to a tenant
            continue
        if target.class_level or source_id is not None:
            return {"source_type": target.source_type, "source_id": source_id, "source_method": target.method}
    return None


def _own_object(model: type[models.Model], tenant_id: int) -> str | None:
    """Return the id of an object of this tenant; None if it has none."""
    rows, path = manager_of(model), path_of(model)
    if (owner := path.keys([tenant_id]).get(tenant_id)) is None:
        return None
    # Any one: in the order of ids, PostgreSQL would read the whole table for a tenant that has none.
    own = in_sight(partial(list[Any], rows.filter(**{path.lookup: owner}).order_by().values_list("pk", flat=True)[:1]))
    return str(own[0]) if own else None


def _addresses(paths: dict[str, Any], root: str) -> dict[str, list[dict[str, str]]]:
    """Return the addresses by tag: each with its method, its summary and its anchor on Swagger's page."""
    tagged: dict[str, list[dict[str, str]]] = {}
    for path, operations in paths.items():
        for method, operation in operations.items():
            [tag] = operation["tags"]
            known = {"method": method.upper(), "path": f"/{path.removeprefix(root)}", "summary": operation["summary"]}
            tagged.setdefault(tag, []).append(known | {"anchor": f"#/{tag}/{operation['operationId']}"})
    return tagged
