"""The statements, one per file: `statement("claim")` is the text of claim.sql."""

from functools import cache
from pathlib import Path


@cache
def statement(name: str) -> str:
    return (Path(__file__).parent / f"{name}.sql").read_text(encoding="utf-8")
