"""The scenarios, each a module with `WORDS`, what it does in one sentence, and `play(scene)`, which returns figures.

Their random numbers have fixed seeds. Two workers run side by side in most of them: a limit that holds only within a
worker shows.
"""

import importlib

NAMES = ["flood", "limits", "zipf", "long_short", "kill", "ten_thousand", "idle", "waiting"]  # in a run of all
NAMED = ["snapshot"]  # only when it is named, and in a long run


def words(name: str) -> str:
    """What a scenario does."""
    return str(importlib.import_module(f"{__name__}.{name}").WORDS)
