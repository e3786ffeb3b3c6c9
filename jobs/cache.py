"""A serializer for the cache: text. Django's default for Redis is pickle, which can run code when it loads a value.

With pickle, an attacker with write access to the cache could run code in the web process, which has the secret key.
"""


class Text:
    """A serializer of text, as all results are, and of numbers, which the cache increments itself.

    Other values are not kept. So the search of unfold's admin, which caches its results, searches again.
    """

    def dumps(self, value: object) -> bytes | int:
        if isinstance(value, int):
            return value
        return value.encode() if isinstance(value, str) else b""

    def loads(self, stored: bytes) -> str:
        return stored.decode()
