"""Two endpoints with the same addresses as ours."""

import hashlib
import hmac
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import path
from ninja import NinjaAPI, Schema
from ninja import Status as Answer
from ninja.security import HttpBearer

from benchmarks.bare.models import Key, Row


class TheKey(HttpBearer):
    def authenticate(self, request: HttpRequest, token: str) -> Key | None:
        prefix, _, secret = token.partition(".")
        key = Key.objects.filter(prefix=prefix).first()
        digest = hashlib.sha256(secret.encode()).hexdigest()
        return key if key and hmac.compare_digest(key.digest, digest) else None


class Content(Schema):
    content: dict[str, Any]


class Stored(Content):
    id: int
    created_at: datetime


api = NinjaAPI(auth=TheKey(), docs_url=None, urls_namespace="bare")


@api.post("jobs", response={202: Stored})
def store(request: HttpRequest, given: Content) -> Answer[Row]:
    return Answer(202, Row.objects.create(key=request.auth, content=given.content))


@api.get("jobs/{row_id}", response=Stored)
def read(request: HttpRequest, row_id: int) -> Row:
    return get_object_or_404(Row, pk=row_id, key=request.auth)


urlpatterns = [path("api/v1/", api.urls)]
