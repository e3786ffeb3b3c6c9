"""`Idempotency-Key`: a client that lost an answer can repeat its request, and gets the same answer for 24 hours."""

import hashlib
import re
from collections.abc import Callable
from functools import partial, wraps
from inspect import unwrap
from typing import Any, TypeVar, cast

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from jobs.http import schemas
from jobs.http.auth import CallerRequest
from jobs.http.codes import ProblemCode
from jobs.http.problems import ProblemError
from jobs.models import KeptAnswer
from jobs.store import answers

View = Callable[..., HttpResponse]
Kind = TypeVar("Kind", bound=Callable[..., Any])
KEEPING: set[Callable[..., Any]] = set()  # the views that accept the header
HEADER = "Idempotency-Key"
KEY = r"[!-~]{1,255}"
PARAMETER: dict[str, Any] = {
    "parameters": [
        {
            "in": "header",
            "name": HEADER,
            "schema": {"type": "string", "pattern": f"^{KEY}$"},
            "description": "The same key and body get the same answer for 24 hours, and the request runs once. "
            "The same key with another body gets 422.",
        }
    ]
}


def repeatable(view: View) -> View:
    """Let an endpoint return the answer kept for this key, if any. Refusals are not kept: a client can try again."""

    @wraps(view)
    def once(request: CallerRequest, **values: Any) -> HttpResponse:
        key = request.headers.get(HEADER)
        return view(request, **values) if key is None else _once(request, key, partial(view, request, **values))

    return keeping(once)


def keeping(view: Kind) -> Kind:
    """Mark a view that accepts the header. A view that changes nothing need not keep its answer."""
    KEEPING.add(unwrap(view))
    return view


def refusing(view: Kind) -> Kind:
    """Let a POST without kept answers refuse the header: a client that sends it relies on it."""
    if unwrap(view) in KEEPING:
        return view

    @wraps(view)
    def refuse(request: HttpRequest, **values: Any) -> Any:
        if request.method == "POST" and HEADER in request.headers:
            raise ProblemError.unfit({HEADER: "is not known at this address: leave it out"})
        return view(request, **values)

    return cast(Kind, refuse)


def _once(request: CallerRequest, key: str, answer: Callable[[], HttpResponse]) -> HttpResponse:
    if not re.fullmatch(KEY, key):
        raise ProblemError.unfit({HEADER: "must be 1 to 255 ASCII characters without spaces"})
    tenant_id = request.auth.tenant.pk
    content = f"{request.path}\n{request.auth.user_key}\n".encode() + request.body
    digest = hashlib.sha256(content).hexdigest()
    with transaction.atomic():
        answer_id = answers.reserve(tenant_id, key, digest)
        if answer_id is not None:
            response = answer()
            kept = {"location": response.get("Location", ""), "body": response.content.decode()}
            KeptAnswer.objects.filter(pk=answer_id).update(status=response.status_code, **kept)
            return response
    before = KeptAnswer.objects.get(tenant=tenant_id, key=key)
    if before.digest != digest:
        raise ProblemError.unfit(
            {HEADER: "was already used for another request; use a new key"}, ProblemCode.IDEMPOTENCY_KEY_REUSED
        )
    headers = {"Location": before.location} if before.location else None
    return HttpResponse(before.body, content_type=schemas.MEDIA_TYPE, status=before.status, headers=headers)
