"""The file of a tenant (docs/moves.md): JSON lines, a head, the rows, an end with a checksum."""

import gzip
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from jobs.calls.refusals import InvalidRequest

FORMAT, VERSION = "jobs-tenant", 1
Line = dict[str, Any]


def write(path: Path, head: Line, rows: Iterable[tuple[str, str]]) -> Counter[str]:
    """Write the file, with gzip if its name ends so; return the number of rows of each table.

    It has its name only when it is whole and on the disk: a process that is killed leaves another one, `.part`.

    rows: the name of a table, and a row of it as JSON.
    """
    part = path.with_name(f"{path.name}.part")
    counts: Counter[str] = Counter()
    # As only its owner may read it: it has everything of a customer.
    with os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as raw:
        compressed = path.suffix == ".gz"
        out = cast(BinaryIO, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0)) if compressed else raw
        checksum = hashlib.sha256()

        def line(text: str) -> None:
            data = f"{text}\n".encode()
            checksum.update(data)
            out.write(data)

        line(json.dumps({"format": FORMAT, "version": VERSION} | head))
        for table, row in rows:
            line(f'{{"table": "{table}", "row": {row}}}')
            counts[table] += 1
        line(json.dumps({"end": {"rows": counts, "sha256": checksum.hexdigest()}}))
        if compressed:
            out.close()
        raw.flush()
        os.fsync(raw.fileno())
    part.replace(path)
    return counts


def read_head(path: Path) -> Line:
    """Return the head of the file. Raises InvalidRequest."""
    for head in _lines(path):
        return _checked(json.loads(head))
    raise _unfit("is empty")


def read(path: Path) -> Iterator[tuple[str, Line]]:
    """Return the rows of a file, each with the name of its table. Raises InvalidRequest if it is not whole.

    It may raise after the last row: the caller must have done nothing with them that stays.
    """
    checksum, counts, end = hashlib.sha256(), Counter[str](), None
    for number, text in enumerate(_lines(path)):
        if end is not None:
            raise _unfit("goes on after its end")
        try:
            line = json.loads(text)
        except ValueError:
            raise _unfit(f"is damaged: line {number + 1} is not JSON") from None
        if "end" in line:
            end = line["end"]
            if end != {"rows": counts, "sha256": checksum.hexdigest()}:
                raise _unfit("is damaged: its checksum does not fit. Export the tenant again")
        elif number:
            counts[line["table"]] += 1
            yield line["table"], line["row"]
        checksum.update(text)
    if end is None:
        raise _unfit("is cut off: it has no end. Export the tenant again")


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as raw:
            compressed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            yield from (gzip.GzipFile(fileobj=raw) if compressed else raw)
    except (OSError, EOFError) as error:
        raise _unfit(f"cannot be read: {error}") from None


def _checked(head: Any) -> Line:
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise _unfit("is no file of `manage.py tenants export`")
    if head["version"] != VERSION:
        raise _unfit(f"has version {head['version']}; this release reads {VERSION}: update both installations")
    return head


def _unfit(why: str) -> InvalidRequest:
    return InvalidRequest("file", why)
