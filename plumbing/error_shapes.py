"""Group equal errors by their shape: the class, and the text without numbers, ids and quoted parts. Pure.

What Python itself says of code keeps its quoted names: an attribute that is missing is not another one that is. A
`KeyError` keeps none: a key may be a value of a customer, and each would be a group of its own.
"""

import re
from functools import lru_cache
from hashlib import blake2b

MAX_SHAPE = 300  # characters of a shape
MAX_READ = 1000  # characters of an error that are read
NO_ERROR = "no error was noted"
CLASS = re.compile(r"[\w.]{1,200}(?=:|$)")
OF_CODE = frozenset(
    {"AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "TypeError", "UnboundLocalError"}
)
NAME = re.compile(r"[A-Za-z_][\w.]{0,39}")  # as code has it
QUOTED = re.compile(r"""(?<!\w)(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)(?!\w)""")  # not the apostrophe of "can't"
MASKS = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "#"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[a-f]*[0-9])[0-9a-f]{8,}\b", re.IGNORECASE), "#"),
    (re.compile(r"\d+(?:[.,:-]\d+)*"), "#"),
)


@lru_cache(maxsize=1_000)
def shape(error: str, *, names: bool = True) -> str:
    """Return the shape of "Class: text": the text has `#` for each number or id, and `…` for quoted text.

    names: whether errors OF_CODE keep quoted names
    """
    if not error:
        return NO_ERROR
    name = class_of(error)
    keeps = names and name in OF_CODE
    text = QUOTED.sub(lambda found: _masked(found[0], keeps), error[len(name) : MAX_READ])
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    masked = f"{name}{' '.join(text.split())}"[:MAX_SHAPE].strip()
    # Without its numbers, the text may begin like another class: then "…" stands before it.
    return masked if class_of(masked) == name else f"… {masked}"[:MAX_SHAPE].strip()


def _masked(quoted: str, keeps_name: bool) -> str:
    return quoted if keeps_name and NAME.fullmatch(quoted[1:-1]) else f"{quoted[0]}…{quoted[0]}"


def key_of(shape: str) -> int:
    """Return a key of 64 bits, equal for equal shapes. Store it in place of a long text, and index it."""
    return int.from_bytes(blake2b(shape.encode(errors="surrogatepass"), digest_size=8).digest(), signed=True)


def class_of(error: str) -> str:
    """Return the class of an error, or of a shape; "" if it has none."""
    match = CLASS.match(error)
    return match[0] if match else ""
