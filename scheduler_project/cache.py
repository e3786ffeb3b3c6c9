"""How the cache stores what it is given: as text. Django's own way for Redis is pickle, which runs what it reads.

Whoever can write to the cache could else run code in the web process, which has the database and the secret key.
"""


class Text:
    """A serializer of text alone: results are JSON already."""

    def dumps(self, value: str) -> bytes:
        return value.encode()

    def loads(self, stored: bytes) -> str:
        return stored.decode()
