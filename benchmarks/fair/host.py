"""`python -m fair.host NAME`: one adapter in the environment of its queue, asked by the runner.

A line of JSON on standard input asks for a verb; a line on standard output answers it. The first answer comes unasked,
and says what the adapter is. Only the standard library is imported here.
"""

import importlib
import json
import os
import sys
import traceback
from typing import IO, Any

from .body import Unsupported

VERBS = ("setup", "submit", "worker_command", "limit", "count")


def main(name: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    try:
        adapter = importlib.import_module(f"fair.adapters.{name}")
    except Exception as error:
        _say(answers, _failed(error))
        return
    _say(answers, {"answer": _described(adapter)})
    for line in sys.stdin:
        asked = json.loads(line)
        verb = asked.pop("verb")
        try:
            if verb not in VERBS:
                raise ValueError(f"There is no verb {verb}.")
            _say(answers, {"answer": getattr(adapter, verb)(**asked)})
        except Exception as error:
            _say(answers, _failed(error))


def _described(adapter: Any) -> dict[str, Any]:
    return {
        "version": adapter.VERSION,
        "docs": adapter.DOCS,
        "limits": adapter.LIMITS,
        "needs": sorted(adapter.NEEDS),
        "most_at_once": getattr(adapter, "MOST_AT_ONCE", None),
    }


def _failed(error: Exception) -> dict[str, Any]:
    if isinstance(error, Unsupported):
        return {"error": str(error), "unsupported": True}
    traceback.print_exception(error)  # into its log
    return {"error": f"{type(error).__name__}: {error}", "unsupported": False}


def _say(answers: IO[str], answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
