"""`python -m benchmarks.fair --peers NAME --scenarios flood`: compare queues; the results are in a file of JSON."""

import argparse
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from embedded import EmbeddedError, orphans, signals
from embedded.processes import Processes

from . import engines, run, scenarios, usage, venvs


def main() -> int:
    """Play all; 1 if one failed for another reason than that the queue has no such verb or is not installed."""
    arguments = _arguments()
    signals.on_stop(signals.leave)
    orphans.inherit()
    results: dict[str, Any] = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "busy": round(usage.busy(), 2),
        "scale": arguments.scale,
        "peers": {},
        "scenarios": {name: scenarios.words(name, long=arguments.long) for name in arguments.scenarios},
        "runs": [],
    }
    pythons = {}
    for peer in arguments.peers:
        try:
            pythons[peer] = venvs.python(peer)
        except venvs.NotInstalled as error:
            results["peers"][peer] = {"not_installed": str(error)}
            _say(f"{peer} is not installed: {error}")
    try:
        with engines.running() as servers:
            results["postgresql"] = servers.version
            for scenario in arguments.scenarios:
                for peer, python in pythons.items():
                    outcome = run.play(
                        peer, python, scenario, servers, arguments.logs, scale=arguments.scale, long=arguments.long
                    )
                    if outcome.about:
                        results["peers"][peer] = outcome.about
                    results["runs"].append(outcome.told())
                    arguments.json.write_text(
                        json.dumps(results, indent=1) + "\n"
                    )  # also if it is stopped before the end
                    _say(_line(outcome))
    except EmbeddedError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    finally:
        orphans.sweep(spared=Processes())
    _say(f"{arguments.json} has all figures; python -m benchmarks.fair.page makes the page from it, and from several.")
    return int(any(told["failed"] and not told["not_offered"] for told in results["runs"]))


def _line(outcome: run.Outcome) -> str:
    begin = f"{outcome.scenario:13} {outcome.peer:14} {outcome.seconds:5.1f} s  "
    if outcome.failed:
        return begin + ("not offered: " if outcome.not_offered else "FAILED: ") + outcome.failed
    return begin + "  ".join(f"{name} {value:.4g}" for name, value in outcome.figures.items() if value is not None)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fair", description=__doc__)
    known, named = venvs.names(), [*scenarios.NAMES, *scenarios.NAMED]
    parser.add_argument("--peers", type=_among(known), default=known, help=f"some of {','.join(known)} (all)")
    parser.add_argument(
        "--scenarios", type=_among(named),
        help=f"some of {','.join(named)} ({','.join(scenarios.NAMES)})",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, default=Path("fair.json"), help="file for the results (fair.json)")
    parser.add_argument("--logs", type=Path, help="directory for the logs of hosts and workers (they are removed)")
    parser.add_argument("--scale", type=float, default=1.0, help="of the scenarios' times (1)")
    parser.add_argument("--long", action="store_true", help="also snapshot, for 120 minutes with each queue")
    arguments = parser.parse_args()
    arguments.scenarios = arguments.scenarios or (named if arguments.long else scenarios.NAMES)
    return arguments


def _among(known: list[str]):  # type: ignore[no-untyped-def]  # a function for argparse
    def named(words: str) -> list[str]:
        wanted = [word.strip() for word in words.split(",") if word.strip()]
        for name in wanted:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is unknown; known: {', '.join(known)}")
        return wanted

    return named


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
