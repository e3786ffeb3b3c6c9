"""How the cache stores what it is given: as text. Django's own way for Redis is pickle, which runs what it reads.

Whoever can write to the cache could else run code in the web process, which has the database and the secret key.
"""


class Text:
    """A serializer of text, which results are already; and of numbers, which the cache counts up itself."""

    def dumps(self, value: str | int) -> bytes | int:
        return value if isinstance(value, int) else value.encode()

    def loads(self, stored: bytes) -> str:
        return stored.decode()
