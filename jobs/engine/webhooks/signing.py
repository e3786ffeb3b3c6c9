"""Sign a message as Standard Webhooks say (https://www.standardwebhooks.com): `v1`, HMAC-SHA256.

The secret of an endpoint is not stored: it is derived from SECRET_KEY and the endpoint's salt. So a copy of the
database reveals no secret. A message has a signature for each valid secret. There are several while a secret is
replaced (that of the former salt), and after a change of SECRET_KEY (those of SECRET_KEY_FALLBACKS).
"""

import hmac
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.conf import settings

PREFIX = "whsec_"


def secret_of(salt: str) -> str:
    """Return the secret in the form in which its owner gets it, once."""
    return PREFIX + b64encode(_secret(salt, settings.SECRET_KEY)).decode()


def _secret(salt: str, key: str) -> bytes:
    return hmac.digest(key.encode(), f"jobs.webhooks {salt}".encode(), "sha256")


def headers(message_id: str, at: datetime, body: bytes, salts: Sequence[str]) -> Mapping[str, str]:
    """Return the headers by which a receiver verifies the message.

    at: the moment of this try; receivers refuse a message that is minutes old.
    """
    seconds = int(at.timestamp())
    signed = f"{message_id}.{seconds}.".encode() + body
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    secrets = [_secret(salt, key) for salt in salts for key in keys]
    signatures = [b64encode(hmac.digest(secret, signed, "sha256")).decode() for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
