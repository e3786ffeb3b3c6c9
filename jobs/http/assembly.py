"""Assemble the API with Ninja: strict bodies, a problem document for each error, a complete OpenAPI document."""

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial, wraps
from http import HTTPStatus
from typing import Any, cast, get_args

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template import TemplateDoesNotExist
from django.urls import path
from ninja import NinjaAPI, Schema
from ninja.errors import ValidationError, ValidationErrorContext
from ninja.openapi.docs import Swagger
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.operation import Operation
from ninja.parser import Parser
from ninja.signature import ViewSignature

from jobs import store
from jobs.http import idempotency, problems
from jobs.http.codes import ProblemCode
from jobs.http.problems import ProblemError
from plumbing.rendering import kept_by_nobody, page

View = Callable[..., Any]
JSON = "application/json"
RETRIED = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
RETRY_AFTER = {"description": "Seconds after which to try again.", "schema": {"type": "integer"}}


class ProblemAPI(NinjaAPI):
    """Ninja's API with short operation ids, and with problem documents also where Ninja has no exception hook."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._webhooks: list[tuple[str, type[Schema], dict[str, Any]]] = []
        self.add_decorator(_without_unknown_names)
        self.add_decorator(_waiting_briefly)
        self.add_decorator(idempotency.refusing)

    def describe_webhook(self, name: str, message: type[Schema], operation: dict[str, Any]) -> None:
        """Add a message that we post to others to the OpenAPI document."""
        self._webhooks.append((name, message, operation))

    @property
    def urls(self) -> tuple[list[Any], str, str]:
        patterns, app_name, namespace = super().urls
        patterns.append(path("docs/endpoints", partial(endpoints_page.render_page, api=self), name="endpoints"))
        for pattern in cast(list[Any], patterns):
            root = pattern.name == "api-root"  # the docs page derives the API's address from it
            answered = problems.no_such_address if root else _with_405_as_problem(pattern.callback)
            pattern.callback = login_not_required(kept_by_nobody(answered))  # Ninja checks the key or the session
        return patterns, app_name, namespace

    def validation_error_from_error_contexts(
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> ValidationError:
        """Return Ninja's errors; an error about an unknown field also lists the known fields."""
        error = super().validation_error_from_error_contexts(error_contexts)
        models = [c.model for c in error_contexts for _ in c.pydantic_validation_error.errors()]
        for refused, model in zip(error.errors, models, strict=True):
            if refused["type"] == "extra_forbidden":
                refused["allowed"] = _fields(model, refused["loc"][1:-1])
        return error

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """Return the OpenAPI document. It is made once for each address: any client may ask, and it takes a second."""
        return self._schema_at(self.get_root_path(path_params or {}) if path_prefix is None else path_prefix)

    @cache  # noqa: B019 - there is one API, as long as its process
    def _schema_at(self, root: str) -> OpenAPISchema:
        schema = super().get_openapi_schema(path_prefix=root)
        for address, operations in schema["paths"].items():
            for operation in operations.values():
                operation["summary"] = re.split(r"[.:](?:\s|$)", operation["description"], maxsplit=1)[0]
                _add_problems_of_all(address, operation)
                for status, response in operation["responses"].items():
                    if status >= HTTPStatus.BAD_REQUEST:
                        described = response["content"].pop("application/json")
                        response["content"][problems.MEDIA_TYPE] = described
                    if status in RETRIED:
                        response["headers"] = {"Retry-After": RETRY_AFTER}
        schema["webhooks"] = {name: _webhook(schema, message, operation) for name, message, operation in self._webhooks}
        return schema


def _webhook(schema: OpenAPISchema, message: type[Schema], operation: dict[str, Any]) -> dict[str, Any]:
    described = message.model_json_schema(ref_template=REF_TEMPLATE, mode="serialization")
    schema.add_schema_definitions(described.pop("$defs", {}) | {message.__name__: described})
    body = {"schema": {"$ref": REF_TEMPLATE.format(model=message.__name__)}}
    return {"post": operation | {"requestBody": {"required": True, "content": {JSON: body}}}}


def _add_problems_of_all(address: str, operation: dict[str, Any]) -> None:
    """Document the problems of any request, and those of requests with an id in the address or with a body."""
    problem = {"$ref": "#/components/schemas/Problem"}
    of_named = {404} if "{" in address else set()
    with_body = {408, 413, 415} if "requestBody" in operation else set()
    for status in sorted({400, 401, 403, 405, 422, 429, 500, 503} | of_named | with_body):
        described = {"description": HTTPStatus(status).phrase, "content": {"application/json": {"schema": problem}}}
        operation["responses"].setdefault(status, described)


def _fields(model: Any, steps: tuple[str | int, ...]) -> list[str]:
    """Return the fields of the object at some steps into a model, perhaps through lists: ("batch", "jobs", 3)."""
    for step in steps:
        inside = get_args(model)
        model = inside[-1] if inside else model.model_fields[step].annotation
    return list(model.model_fields)


def _without_unknown_names(view: View) -> View:
    """Refuse parameters that are misspelt or given twice: a list that ignored a filter would have wrong rows."""
    models = [model for model in ViewSignature("", view).models if model.__ninja_param_source__ == "query"]
    names = [name for model in models for name in model.__ninja_flatten_map__]

    @wraps(view)
    def strict(request: HttpRequest, **values: Any) -> Any:
        in_path = request.resolver_match.kwargs if request.resolver_match else {}
        known = [name for name in names if name not in in_path]
        if unknown := set(request.GET).difference(known):
            allowed = f"allowed: {', '.join(known)}" if known else "this address takes none"
            message = f"unknown parameter; {allowed}"
            raise ProblemError.unfit(dict.fromkeys(sorted(unknown), message))
        if unfit := {name: problem for name, values in request.GET.lists() if (problem := _unfit(values))}:
            raise ProblemError.unfit(unfit)
        return view(request, **values)

    return strict


def _unfit(values: list[Any]) -> str | None:
    if len(values) > 1:
        return "given twice; give it once"
    return "must be UTF-8" if "\ufffd" in values[0] else None  # Django puts this character for invalid bytes


def _waiting_briefly(view: View) -> View:
    """Let a request wait only briefly for rows that a transaction of the host's code has locked."""

    @wraps(view)
    def brief(request: HttpRequest, **values: Any) -> Any:
        with store.briefly():
            return view(request, **values)

    return brief


def _with_405_as_problem(view: View) -> View:
    """Answer a wrong method with a problem: Ninja answers in plain text, before its exception hooks.

    HEAD runs as GET; the server leaves out the body, and a stream is not sent.
    """

    def answer(response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
            return response
        allowed = response["Allow"].replace("GET", "GET, HEAD")
        problem = ProblemError(ProblemCode.WRONG_METHOD, f"This address allows {allowed}.", headers={"Allow": allowed})
        return problems.respond(problem)

    @wraps(view)
    def view_or_problem(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "HEAD":
            return answer(view(request, *args, **kwargs))
        request.method = "GET"
        response = answer(view(request, *args, **kwargs))
        request.method = "HEAD"
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = iter(())
        return response

    return view_or_problem


class EndpointsPage(Swagger):
    """Swagger's page of every endpoint, with Ninja's files wherever Django finds them.

    Ninja itself requires its app in INSTALLED_APPS, and every worker would then import it. If Django finds none of its
    templates, the page loads its files from a CDN, as in Ninja.
    """

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        swagger_settings = json.dumps(self.settings | {"url": self.get_openapi_url(api, kwargs)}, indent=1)
        try:
            return page(request, "jobs/api/endpoints.html", {"swagger_settings": swagger_settings, "api": api})
        except TemplateDoesNotExist:
            return super().render_page(request, api, **kwargs)


endpoints_page = EndpointsPage()


class StrictParser(Parser):
    """A parser that raises ValueError for a body that is not JSON, and a problem for a wrong content type."""

    def parse_body(self, request: HttpRequest) -> Any:
        if request.content_type != JSON:
            message = f"must be {JSON}, not {(request.content_type or 'left out')[:100]}"
            raise ProblemError.unfit({"Content-Type": message}, ProblemCode.WRONG_CONTENT_TYPE)
        if (encoding := request.headers.get("Content-Encoding", "identity")).lower() != "identity":
            message = f"must be left out, not {encoding[:100]}: a body is sent as it is"
            raise ProblemError.unfit({"Content-Encoding": message}, ProblemCode.WRONG_CONTENT_TYPE)
        try:
            text = request.body.decode()
        except UnicodeDecodeError:
            raise ValueError("it is not UTF-8") from None
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
        times = Counter(name for name, _ in pairs)  # one pass: there may be 200,000 names
        twice = next(name for name, number in times.items() if number > 1)
        raise TwiceError(f"{twice[:100]!r} appears twice in one object")
    return document
