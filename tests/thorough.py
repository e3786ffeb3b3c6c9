"""How far a proof goes: `make test THOROUGH=1` (as CI does) tries more seeds, examples, rows, windows and seconds.

It runs all tests, as `make test ALL=1` does: also those that `make test` leaves out, because they are marked `long`.
The largest cases of the model, some windows of the browser, the walk through docs/own-project.md, and 90 s of each
row that `make bench ROWS=insight` measures for long run only then. A fault that only the larger sizes show is a fault
of the smaller ones, too: make them find it.
"""

import os

import pytest

THOROUGH = os.environ.get("THOROUGH") == "1"
only_thorough = pytest.mark.skipif(not THOROUGH, reason="make test THOROUGH=1 runs it")


def sized(usually: int, *, thorough: int) -> int:
    """The size of a proof in this run."""
    return thorough if THOROUGH else usually
