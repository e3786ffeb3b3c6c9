"""`Idempotency-Key`: a client that has lost an answer asks again, and gets the same one. For a day, for each tenant."""

import hashlib
import re
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http import HttpResponse

from jobs.api import schemas
from jobs.api.auth import CallerRequest
from jobs.api.problems import ProblemError
from jobs.store import answers

HEADER = "Idempotency-Key"
KEY = r"[!-~]{1,255}"
PARAMETER: dict[str, Any] = {
    "parameters": [
        {
            "in": "header",
            "name": HEADER,
            "schema": {"type": "string", "pattern": f"^{KEY}$"},
            "description": "With the same key and body the answer is the same for 24 hours, and nothing is done twice; "
            "with another body it is 422.",
        }
    ]
}


def once(request: CallerRequest, answer: Callable[[], HttpResponse]) -> HttpResponse:
    """What `answer` answers, or what it answered to the request with this key. A refusal is not kept: ask again."""
    key = request.headers.get(HEADER)
    if key is None:
        return answer()
    if not re.fullmatch(KEY, key):
        raise ProblemError.unfit({HEADER: "must be 1 to 255 characters of ASCII, without spaces"})
    tenant_id = request.auth.tenant.pk
    said = f"{request.path}\n{request.auth.user_key}\n".encode() + request.body
    digest = hashlib.sha256(said).hexdigest()
    with transaction.atomic():
        answer_id = answers.reserve(tenant_id, key, digest)
        if answer_id is not None:
            response = answer()
            answers.keep(answer_id, response.status_code, response.get("Location", ""), response.content.decode())
            return response
    before = answers.kept(tenant_id, key)
    if before.digest != digest:
        raise ProblemError.unfit({HEADER: "has been used for another request; take a new one"})
    again = HttpResponse(before.body, content_type=schemas.MEDIA_TYPE, status=before.status)
    if before.location:
        again["Location"] = before.location
    return again
