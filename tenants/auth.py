"""API keys: `prefix.secret`. The prefix finds the row, the secret proves the caller.

Of the secret only the SHA-256 is stored. A fast digest is right here, unlike for passwords: 256 random bits
cannot be guessed, however fast the guessing.
"""

import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta

from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from tenants.models import ApiKey, Tenant

TOKEN = re.compile(r"(?P<prefix>[0-9a-f]{12})\.(?P<secret>[A-Za-z0-9_-]{43})")
LAST_USED_RESOLUTION = timedelta(minutes=1)


def issue(tenant: Tenant, name: str, expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """Store a new key of the tenant; return it with its token, which nobody can read again afterwards.

    `expires_at` is an aware datetime; None: the key is good until it is revoked.
    """
    key = ApiKey(tenant=tenant, name=name, expires_at=expires_at)
    token = mint(key)
    key.save()
    return key, token


def mint(key: ApiKey) -> str:
    """Give an unsaved key its prefix and digest; return its token."""
    secret = secrets.token_urlsafe(32)
    key.prefix, key.digest = secrets.token_hex(6), _digest(secret)
    return f"{key.prefix}.{secret}"


def revoke(key: ApiKey) -> None:
    """Make the key useless from now on. The first revocation is the one that is remembered."""
    ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=Now())


def tenant_of(token: str) -> Tenant | None:
    """The tenant whose key this is; None if it is malformed, unknown, wrong, expired or revoked."""
    parts = TOKEN.fullmatch(token)
    if parts is None:
        return None
    not_expired = Q(expires_at=None) | Q(expires_at__gt=Now())
    good = ApiKey.objects.filter(not_expired, revoked_at=None)
    key = good.select_related("tenant").filter(prefix=parts["prefix"]).first()
    if key is None or not hmac.compare_digest(key.digest, _digest(parts["secret"])):
        return None
    _note_use(key)
    return key.tenant


def _note_use(key: ApiKey) -> None:
    """Remember when the key was last used, to the minute: not every request should write a row."""
    a_while_ago = timezone.now() - LAST_USED_RESOLUTION
    if key.last_used_at is None or key.last_used_at < a_while_ago:
        # Guarded again in the statement, so that requests arriving together write once.
        unnoted = Q(last_used_at=None) | Q(last_used_at__lt=a_while_ago)
        ApiKey.objects.filter(unnoted, pk=key.pk).update(last_used_at=timezone.now())


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
