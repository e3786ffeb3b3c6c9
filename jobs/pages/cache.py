"""A serializer for the cache: text. Django's default for Redis is pickle, which can run code when it loads a value.

With pickle, an attacker with write access to the cache could run code in the web process, which has the secret key.
"""


class Text:
    """A serializer of text, which all results are, and of numbers, which the cache increments itself."""

    def dumps(self, value: str | int) -> bytes | int:
        return value if isinstance(value, int) else value.encode()

    def loads(self, stored: bytes) -> str:
        return stored.decode()
