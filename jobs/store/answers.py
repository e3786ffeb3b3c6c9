"""The answers kept for requests with an Idempotency-Key."""

from jobs.store.rows import rows

TTL = 24 * 3600.0  # seconds


def reserve(tenant_id: int, key: str, digest: str) -> int | None:
    """Reserve an answer and return its id; None if it exists. Wait while another request with the key is answered."""
    reserved = rows("reserve", tenant_id=tenant_id, key=key, digest=digest, ttl=TTL)
    return reserved[0][0] if reserved else None
