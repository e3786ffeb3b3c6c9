"""Errors as RFC 9457 problem details: every error of the API is `application/problem+json`."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from jobs.calls.refusals import InvalidRequest, Locked, TenantMoves, TooLarge, TooManyWaiting, Undecided
from jobs.http.codes import ProblemCode
from jobs.http.messages import message
from jobs.http.schemas import FieldError
from jobs.models import Schedule
from tenants.tenant_model import get_tenant_model

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 20  # in one answer
NO_SUCH_ADDRESS = "This address does not exist; see the API's docs page."
Value = TypeVar("Value")
LONGEST_FIELD, LONGEST_MESSAGE = 100, 1_000  # characters: both may quote the input


class ProblemError(Exception):
    """An error that any code under the API may raise; it becomes the response."""

    def __init__(
        self,
        code: ProblemCode,
        detail: str,
        errors: Iterable[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code, self.detail, self.errors, self.headers = code, detail, list(errors), headers

    @classmethod
    def unfit(
        cls,
        fields: Mapping[str, str],
        code: ProblemCode = ProblemCode.INVALID_INPUT,
        headers: Mapping[str, str] | None = None,
    ) -> "ProblemError":
        """Return a problem with the errors of the input, by field."""
        errors = [FieldError(field=field[:LONGEST_FIELD], message=cut(message)) for field, message in fields.items()]
        return cls(code, f"{errors[0].field}: {errors[0].message}", errors, headers)

    @classmethod
    def refused(cls, refusal: InvalidRequest, field: str) -> "ProblemError":
        """Return a problem for a refusal of the engine. HTTP has a status of its own for too large an input."""
        code = ProblemCode.TOO_LARGE if isinstance(refusal, TooLarge) else ProblemCode.INVALID_INPUT
        return cls.unfit({field: refusal.message}, code)


def cut(message: str) -> str:
    """Return the message, cut if it is too long to read."""
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"


def respond(problem: ProblemError) -> HttpResponse:
    more = len(problem.errors) - MOST_ERRORS
    status = problem.code.status
    document = {
        "type": "about:blank",  # no page describes the problem further
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": problem.code,
        "detail": problem.detail + (f" (and {more:,} more)" if more > 0 else ""),
        "errors": [error.model_dump() for error in problem.errors[:MOST_ERRORS]],
    }
    return HttpResponse(json.dumps(document), content_type=MEDIA_TYPE, status=status, headers=problem.headers)


def existing(value: Value | None, what: str) -> Value:
    """Return the value. Raises a problem if it is None.

    The problem is the same, byte for byte, if there is nothing and if it belongs to another tenant.
    """
    if value is None:
        raise _missing(what)
    return value


def _missing(kind: str) -> ProblemError:
    return ProblemError(ProblemCode.NOT_FOUND, f"There is no such {kind}.")


@csrf_exempt  # otherwise a POST would get an error about its token, not about the address
def no_such_address(request: HttpRequest) -> HttpResponse:
    """Answer all unknown addresses under the API."""
    return respond(ProblemError(ProblemCode.NO_SUCH_ADDRESS, NO_SUCH_ADDRESS))


def add_to(api: NinjaAPI) -> None:
    """Make the API answer with problem documents."""
    problem_of: dict[type[Exception], Callable[[HttpRequest, Any], ProblemError]] = {
        ProblemError: lambda request, problem: problem,
        ValidationError: _unfit,
        InvalidRequest: lambda request, error: ProblemError.refused(error, error.field),
        TooManyWaiting: lambda request, error: _later(ProblemCode.BACKLOG_FULL, error),
        TenantMoves: lambda request, error: _later(ProblemCode.TENANT_MOVES, error),
        Undecided: lambda request, error: _later(ProblemCode.IDENTICAL_JOBS_BUSY, error),
        Locked: lambda request, error: _later(ProblemCode.LOCKED, error),
        RequestDataTooBig: _too_big,
        Schedule.DoesNotExist: lambda request, error: _missing("schedule"),  # another request has deleted it
        AuthenticationError: _unknown_caller,
        get_tenant_model().DoesNotExist: _unknown_caller,  # it has been deleted since
        HttpError: _not_json,
    }
    for kind, describe in problem_of.items():
        api.add_exception_handler(kind, partial(_answer, describe))


def _answer(describe: Callable[[HttpRequest, Any], ProblemError], request: HttpRequest, error: Any) -> HttpResponse:
    return respond(describe(request, error))


def _unfit(request: HttpRequest, error: ValidationError) -> ProblemError:
    return ProblemError.unfit({_field(e["loc"]): message(e) for e in error.errors})


def _field(loc: tuple[str | int, ...]) -> str:
    """Return the name of a field: "jobs[3].priority" for ("body", <parameter's name>, "jobs", 3, "priority").

    ("query", "limit") becomes "limit".
    """
    source, *path = loc
    if source == "body":
        path = path[1:]
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".") or str(
        source
    )


def _later(code: ProblemCode, error: TooManyWaiting | TenantMoves | Undecided | Locked) -> ProblemError:
    return ProblemError(code, f"{error}.", headers={"Retry-After": str(error.retry_after)})


def _too_big(request: HttpRequest, error: RequestDataTooBig) -> ProblemError:
    message = f"must be at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes"
    return ProblemError.unfit({"body": message}, ProblemCode.TOO_LARGE)


def _unknown_caller(request: HttpRequest, error: Exception) -> ProblemError:
    challenge = 'Bearer realm="jobs"'
    if "Authorization" in request.headers:
        challenge += ', error="invalid_token"'  # RFC 6750: only if the request had a token
    whose = "an operator's key" if "/operator/" in request.path else "a key of your tenant"
    message = f"must be `Bearer <key>` with {whose} that is neither expired nor revoked"
    return ProblemError.unfit({"Authorization": message}, ProblemCode.UNKNOWN_KEY, {"WWW-Authenticate": challenge})


def _not_json(request: HttpRequest, error: HttpError) -> ProblemError:
    """Return a problem for Ninja's only refusal of its own: of a body that the parser refused."""
    if isinstance(error.__cause__, ProblemError):
        return error.__cause__
    return ProblemError.unfit({"body": f"must be JSON: {error.__cause__}"}, ProblemCode.NOT_JSON)
