"""The browser of the tests and of the pictures in the documentation."""

import shutil

# The shell draws no window around the page: it takes half the processor. Not every distribution has it.
PROGRAMS = ("chromium-headless-shell", "chromium")


def find_chromium() -> str | None:
    """Return the path of the program; None if this machine has none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)
