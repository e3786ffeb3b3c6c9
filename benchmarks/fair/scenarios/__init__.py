"""The scenarios, each a module with `WORDS`, what it does in one sentence, and `play(scene)`, which returns figures.

Their random numbers have fixed seeds. Two workers run side by side in most of them: a limit that holds only within a
worker shows.
"""

import importlib

NAMES = ["flood", "limits", "zipf", "long_short", "kill", "ten_thousand", "idle", "waiting"]  # in a run of all
NAMED = ["snapshot"]  # only when it is named, as it takes ten minutes, and in a long run


def words(name: str, *, long: bool = False) -> str:
    """What a scenario does; in its long form, if it has one."""
    module = importlib.import_module(f"{__name__}.{name}")
    return str(getattr(module, "LONG_WORDS", module.WORDS) if long else module.WORDS)
