"""A serializer for the cache: text. Django's default for Redis is pickle, which can run code when it loads a value.

With pickle, an attacker with write access to the cache could run code in the web process, which has the secret key.
"""


class Text:
    """A serializer of text, which all results are, and of numbers, which the cache increments itself.

    Of anything else it keeps nothing: the search of unfold's admin, which caches what it found, finds it anew.
    """

    def dumps(self, value: object) -> bytes | int:
        if isinstance(value, int):
            return value
        return value.encode() if isinstance(value, str) else b""

    def loads(self, stored: bytes) -> str:
        return stored.decode()
