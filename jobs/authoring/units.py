"""Sum up by unit what the body of an attempt says it has used."""

import threading
from collections.abc import Mapping

from plumbing.units import MOST_UNITS, is_amount, why_not_names


class Units:
    """The sums of one attempt. Threads of a body may add at the same time."""

    def __init__(self, sums: Mapping[str, int] | None = None) -> None:
        self._sums = dict(sums or {})
        self._lock = threading.Lock()

    def add(self, amounts: Mapping[str, int]) -> None:
        """Add these amounts, all of them or, after an error, none. Raises ValueError, which names the unit."""
        for name, amount in amounts.items():
            if not is_amount(amount):
                raise ValueError(f"used({name}=...): must be a whole number from 0 to {MOST_UNITS}, not {amount!r}")
        with self._lock:
            sums = self._sums | {name: self._sums.get(name, 0) + n for name, n in amounts.items() if n}
            if wrong := why_not_names(sums):
                raise ValueError(f"used(): {wrong} in one attempt")
            self._sums = sums

    def sums(self) -> dict[str, int] | None:
        """Return the sums by unit; None if nothing was used."""
        return self._sums or None
