"""Explore every case, print the verdicts and the counter-examples; exit 1 if one is not as expected."""

import sys
import time

from docs.model import cases
from docs.model.explorer import explore

PARTS = (
    ("The protocol: must hold", cases.PROTOCOL),
    ("Faults put in: must be found", cases.FAULTS),
)


def say(words: str) -> None:
    """Print at once: some explorations take seconds."""
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


def main() -> int:
    """Explore all cases; return 1 if one was not as expected, else 0."""
    surprised = 0
    for title, part in PARTS:
        say(f"\n{title}\n{'=' * len(title)}")
        for case in part:
            began = time.monotonic()
            verdict = explore(case.model)
            say(f"\n{case.name}  ({time.monotonic() - began:.1f} s)\n{verdict}")
            if not case.as_expected(verdict):
                surprised = 1
                say(f"NOT AS EXPECTED: {case.fault or 'should hold'}")
    return surprised


if __name__ == "__main__":
    sys.exit(main())
