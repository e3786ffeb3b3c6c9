"""Keys to the API, of tenants and operators: `prefix.secret`. The prefix finds the row, the secret proves the caller.

Only the SHA-256 of the secret is stored. A fast digest is right here, unlike for passwords: 256 random bits
cannot be guessed, however fast the guessing.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from django.contrib.auth import get_user_model
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django.views.decorators.debug import sensitive_variables

from plumbing.prepared import prepared
from tenants import audit, members
from tenants.conf import TENANT_NAME, TENANT_SLUG, membership
from tenants.models import ApiKey, Key, Member, OperatorKey, Tenant
from tenants.operators import is_operator
from tenants.tenant_model import for_this_project, get_tenant_model

if TYPE_CHECKING:
    from django.contrib.auth.models import User

TOKEN = re.compile(r"(?P<prefix>[0-9a-f]{12})\.(?P<secret>[A-Za-z0-9_-]{43})")
LAST_USED_RESOLUTION = timedelta(minutes=1)


def issue(tenant: Tenant, name: str, expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """Store a new key of the tenant; return it with its token, which cannot be read again.

    `expires_at` is an aware datetime; None: the key is valid until it is revoked.
    """
    key = ApiKey(tenant=tenant, name=name, expires_at=expires_at)
    token = mint(key)
    with transaction.atomic():  # with its entry in the audit log
        key.save()
    return key, token


def mint(key: Key) -> str:
    """Give an unsaved key its prefix and digest; return its token."""
    secret = secrets.token_urlsafe(32)
    key.prefix, key.digest = secrets.token_hex(6), _digest(secret)
    return f"{key.prefix}.{secret}"


def revoke(key: Key) -> bool:
    """Invalidate the key from now on; False if it was revoked before."""
    with transaction.atomic():
        revoked = type(key)._default_manager.filter(pk=key.pk, revoked_at=None).update(revoked_at=Now()) > 0
        if revoked:
            audit.note("revoked", type(key), [(key.pk, str(key))], tenant_id=getattr(key, "tenant_id", None))
    return revoked


@sensitive_variables("token", "parts")
def tenant_of(token: str) -> Tenant | None:
    """Return the tenant of the key; None if the key is malformed, unknown, wrong, expired or revoked."""
    parts = TOKEN.fullmatch(token)
    if parts is None:
        return None
    rows = prepared(_tenant_of_key(), prefix=parts["prefix"], resolution=LAST_USED_RESOLUTION)
    for key_id, digest, unnoted, moving, *columns in rows:
        if hmac.compare_digest(digest, _digest(parts["secret"])):
            if unnoted:
                _note_use(ApiKey, key_id)
            tenant = _tenant(*columns)
            tenant.jobs_moving = moving
            return tenant
    return None


class Way(NamedTuple):
    """A way into a tenant: one of its keys, or the session of a member.

    key: the prefix of the key; "" for a session.
    user_id: the member's user; None for a key.
    session_hash: Django's hash in the member's session; a change of the password makes it invalid. "": there is none.
    request: the member's request, to call JOBS_MEMBERSHIP with it again; None without that setting.
    """

    tenant_id: int
    key: str = ""
    user_id: int | None = None
    session_hash: str = ""
    request: HttpRequest | None = None


def open_ways(wanted: Collection[Way]) -> dict[Way, bool]:
    """Return the ways that are still open, each with True: valid keys, and valid sessions of active members."""
    if membership():
        return _open_by_table([way for way in wanted if way.request is None]) | _open_by_request(wanted)
    return _open_by_table(wanted)


def _open_by_request(wanted: Collection[Way]) -> dict[Way, bool]:
    users = get_user_model()._default_manager.in_bulk([way.user_id for way in wanted if way.request])
    active = [way for way in wanted if way.request and _is_logged_in(users.get(way.user_id), way)]
    now = {way: members.tenant_of_request(way.request) for way in active if way.request}
    return {way: True for way, tenant in now.items() if tenant is not None and tenant.pk == way.tenant_id}


def _open_by_table(wanted: Collection[Way]) -> dict[Way, bool]:
    keys = ApiKey.objects.filter(_good(), prefix__in=[way.key for way in wanted if way.key])
    still = {Way(tenant_id, key=prefix) for tenant_id, prefix in keys.values_list("tenant_id", "prefix")}
    users = [way.user_id for way in wanted if way.user_id is not None]
    members = Member.objects.filter(user__in=users).select_related("user")
    user_of: dict[tuple[int, int | None], Any] = {(member.tenant_id, member.user_id): member.user for member in members}
    return {
        way: True for way in wanted if way in still or _is_logged_in(user_of.get((way.tenant_id, way.user_id)), way)
    }


def _is_logged_in(user: Any, way: Way) -> bool:
    # In Django's contract for user models `is_active` is an attribute, and need not be a column.
    if user is None or not user.is_active:
        return False
    return not way.session_hash or constant_time_compare(way.session_hash, user.get_session_auth_hash())


def _good() -> Q:
    return Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=Now()))


@sensitive_variables("token", "parts")
def operator_of(token: str) -> "User | None":
    """Return the operator of the key; None also if that user is deactivated or no longer an operator."""
    parts = TOKEN.fullmatch(token)
    if parts is None:
        return None
    good = OperatorKey.objects.filter(_good(), prefix=parts["prefix"])
    key = good.select_related("user").annotate(unnoted=_unnoted()).first()
    if key is None or not hmac.compare_digest(key.digest, _digest(parts["secret"])):
        return None
    if not (key.user.is_active and is_operator(key.user)):
        return None
    if key.unnoted:
        _note_use(OperatorKey, key.pk)
    return key.user


@cache
def _tenant_of_key() -> str:
    return for_this_project((Path(__file__).parent / "sql" / "tenant_of_key.sql").read_text(encoding="utf-8"))


def _tenant(pk: int, name: str, slug: str) -> Tenant:
    """Return the tenant with these columns; its other columns are read when they are used."""
    model = get_tenant_model()
    known = {model._meta.pk.attname: pk, TENANT_NAME: name, TENANT_SLUG: slug}
    names = [field.attname for field in model._meta.concrete_fields if field.attname in known]
    return model.from_db(DEFAULT_DB_ALIAS, names, [known[name] for name in names])


def _note_use(keys: type[Key], key_id: int) -> None:
    """Record the last use of the key to the minute, so that not every request writes a row."""
    # The statement checks the minute, so that simultaneous requests write once.
    keys._default_manager.filter(_unnoted(), pk=key_id).update(last_used_at=Now())


def _unnoted() -> Q:
    return Q(last_used_at=None) | Q(last_used_at__lt=Now() - LAST_USED_RESOLUTION)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
