"""The shape of an error: its class, and its text without what differs from one job to the next. Pure."""

import re
from functools import lru_cache
from hashlib import blake2b

MAX_SHAPE = 300  # characters of a shape
MAX_READ = 1000  # characters of an error that are looked at
NO_ERROR = "no error was noted"
CLASS = re.compile(r"[\w.]{1,200}(?=:|$)")
MASKS = (
    # Quoted text; not the apostrophe of "can't".
    (re.compile(r"""(?<!\w)(?:(')[^'\n]*'|(")[^"\n]*"|(`)[^`\n]*`)(?!\w)"""), r"\1\2\3…\1\2\3"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "#"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[a-f]*[0-9])[0-9a-f]{8,}\b", re.IGNORECASE), "#"),
    (re.compile(r"\d+(?:[.,:-]\d+)*"), "#"),
)


@lru_cache(maxsize=1_000)
def shape(error: str) -> str:
    """Of "Class: text" the class, and the text with `#` for numbers and ids, and `…` for what is quoted."""
    if not error:
        return NO_ERROR
    name = class_of(error)
    text = error[len(name) : MAX_READ]
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    found = f"{name}{' '.join(text.split())}"[:MAX_SHAPE].strip()
    return found if class_of(found) == name else f"… {found}"[:MAX_SHAPE].strip()  # what remained looks like a class


def key_of(shape: str) -> int:
    """The same for equal shapes, of 64 bits: what a dead job keeps of its shape, and what its index is sorted by."""
    return int.from_bytes(blake2b(shape.encode(errors="surrogatepass"), digest_size=8).digest(), signed=True)


def class_of(error: str) -> str:
    """The class of an error, or of a shape; "" if it has none."""
    found = CLASS.match(error)
    return found[0] if found else ""
