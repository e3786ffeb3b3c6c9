"""The words that a person carries from one installation to the other, made of the key in the file.

They keep people from the wrong order, and from the wrong installation; who reads the databases needs no words.
"""

import hmac
import secrets

NONCE, CHECK = 8, 8  # characters


def new_key() -> str:
    return secrets.token_hex(16)


def new_receipt(key: str) -> str:
    """Return what an installation says that has stored the rows of the file. No two say the same."""
    nonce = secrets.token_hex(NONCE // 2)
    return f"{nonce}-{_digest(key, nonce, 'receipt')}"


def is_receipt(key: str, receipt: str) -> bool:
    nonce, _, check = receipt.partition("-")
    return bool(key) and hmac.compare_digest(check.encode(), _digest(key, nonce, "receipt").encode())


def opening(key: str, receipt: str) -> str:
    """Return what the installation says that has given the tenant up to the one with this receipt."""
    return _digest(key, receipt, "opening")


def is_opening(key: str, receipt: str, word: str) -> bool:
    return hmac.compare_digest(word.encode(), opening(key, receipt).encode())


def _digest(key: str, text: str, purpose: str) -> str:
    return hmac.digest(key.encode(), f"{purpose} {text}".encode(), "sha256").hex()[:CHECK]
