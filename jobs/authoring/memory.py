"""`current_job().memory`: a small JSON object that a job type keeps from one run to the next."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final

from jobs.authoring.in_thread import in_thread


class Missing(Enum):
    MISSING = "missing"


MISSING: Final = Missing.MISSING  # the `expected` of `compare_and_set` for a key without a value


class Memory(Mapping[str, Any]):
    """JSON values by name. A memory reads like a dictionary; only the methods below change it.

    Coroutines await the twins, which have an `a` before their names.

    This class is the stand-in outside a job: it begins empty, and its values last as long as the object does.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def as_dict(self) -> dict[str, Any]:
        """Return all values, as a copy."""
        return dict(self._values)

    def merge(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Set these values, and leave the others. A value replaces the old one as a whole, even if both are objects."""
        self._values |= {**(values or {}), **more}

    def delete(self, *keys: str) -> None:
        """Delete these values. A key without a value is no error."""
        for key in keys:
            self._values.pop(key, None)

    def increment(self, key: str, by: float = 1) -> float:
        """Add to a number; a missing one counts as 0. Return the sum."""
        total: float = self._values.get(key, 0) + by
        self._values[key] = total
        return total

    def compare_and_set(self, key: str, expected: Any, new: Any) -> bool:
        """Set `new` if the present value is `expected` (MISSING: if there is none). Return whether it was set."""
        if self._values.get(key, MISSING) != expected:
            return False
        self._values[key] = new
        return True

    def clear(self) -> None:
        """Delete all values."""
        self._values.clear()

    async def aas_dict(self) -> dict[str, Any]:
        return await in_thread(self.as_dict)

    async def aget(self, key: str, default: Any = None) -> Any:
        return (await self.aas_dict()).get(key, default)

    async def amerge(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        await in_thread(self.merge, values, **more)

    async def adelete(self, *keys: str) -> None:
        await in_thread(self.delete, *keys)

    async def aincrement(self, key: str, by: float = 1) -> float:
        return await in_thread(self.increment, key, by)

    async def acompare_and_set(self, key: str, expected: Any, new: Any) -> bool:
        return await in_thread(self.compare_and_set, key, expected, new)

    async def aclear(self) -> None:
        await in_thread(self.clear)

    def __getitem__(self, key: str) -> Any:
        return self.as_dict()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.as_dict())

    def __len__(self) -> int:
        return len(self.as_dict())
