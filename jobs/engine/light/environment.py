"""The environment of a light process: all bodies see what one changes, and it stays."""

import os

from jobs import telemetry


class Environment:
    """Knows the environment as it was at the last look."""

    def __init__(self) -> None:
        self._known = _copy()

    def warn_if_changed(self) -> None:
        """Log the names of the variables that were changed since the last look, not their values."""
        if os.environ._data != self._known:  # type: ignore[attr-defined]  # 1 us; through the mapping 40
            before, self._known = self._known, _copy()
            changed = {name for name, _ in before.items() ^ self._known.items()}
            names = " ".join(sorted(os.fsdecode(name) for name in changed))
            telemetry.noticed("a body has changed the environment of all others", pid=os.getpid(), names=names)


def _copy() -> dict[bytes, bytes]:
    copied: dict[bytes, bytes] = os.environ._data.copy()  # type: ignore[attr-defined]
    return copied
