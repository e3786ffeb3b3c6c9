"""`python -m tests.chaos --seconds 600 --seed 42`: many deaths, thousands of jobs, nothing lost.

Exit status 1 when anything went wrong that must not.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable

from rich.console import Console

from embedded import orphans, signals
from embedded.processes import Processes
from tests.chaos import world
from tests.hosts import missing
from tests.waiting import wait_until

CALM = 120.0  # seconds after the last death within which every job must be final


def main() -> int:
    arguments = _arguments()
    signals.on_stop(signals.leave)
    orphans.inherit()
    try:
        with world.created(
            synchronous=not arguments.lag,
            light=arguments.seed % world.WORKERS,
            cuts=arguments.storm,
            hosts=arguments.hosts,
        ) as created:
            return run(created, arguments)
    finally:
        orphans.sweep(spared=Processes())


def run(created: world.World, arguments: argparse.Namespace) -> int:
    """One run; the exit status. It imports late: only now is Django set up."""
    from tests.chaos import verdict
    from tests.chaos.auditor import Auditor
    from tests.chaos.deaths import Deaths
    from tests.chaos.load import Load, things
    from tests.chaos.operators import Operators

    console = Console()
    seconds, seed = arguments.seconds, arguments.seed
    console.print(f"chaos for {seconds:.0f} s, seed {seed}")
    load = Load(things(), seed)
    deaths = Deaths(created, random.Random(seed), arguments.pause, arguments.lag)
    operators = Operators(seed) if arguments.storm else None
    created.start_workers()
    with Auditor() as auditor:
        load.start()
        created.wait_for_workers()
        deaths.start()
        if operators:
            operators.start()
        time.sleep(seconds)
        deaths.stop()
        load.stop()
        if operators:
            operators.stop()
        calm = time.monotonic()
        late = _late(verdict.unfinished, verdict.stop_schedules)
        calm = time.monotonic() - calm
    violations = load.faults + deaths.faults + late + (operators.faults if operators else [])
    violations += verdict.judge(
        created.evidence,
        load.accepted,
        auditor.violations,
        deaths.lost,
        callbacks=load.callbacks,
        calls=load.calls,
        revived=load.revived,
        killed=deaths.killed,
    )
    audit = Counter({"looks": auditor.looks, "violations": len(violations), "callbacks": len(load.callbacks)})
    counts = {"deaths": deaths.struck, "load": load.counts, "audit": audit}
    if operators:
        counts["operators"] = operators.done
    console.print(verdict.table(f"seed {seed}: {seconds:.0f} s of chaos, all final {calm:.0f} s later", counts))
    for words in violations[:50]:
        console.print(f"VIOLATION: {words}", style="bold red")
    if violations:
        console.print(f"logs: {created.keep_logs()}")
    return 1 if violations else 0


def _late(unfinished: Callable[[], int], stop_schedules: Callable[[], object]) -> list[str]:
    """Wait until every job is final; a complaint when the calm is too short for that."""
    from tests.chaos.own_engines import wait_for_database

    wait_for_database()
    stop_schedules()
    try:
        wait_until(lambda: unfinished() == 0, "every job is final", CALM)
    except AssertionError as error:
        return [str(error)]
    return []


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long deaths go on (default 600)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the schedule and the load")
    parser.add_argument("--pause", type=float, default=2.5, help="mean seconds between two deaths")
    parser.add_argument(
        "--lag",
        type=float,
        default=0,
        help="promote an asynchronous standby that is so many seconds behind (default 0)",
    )
    parser.add_argument(
        "--storm",
        action="store_true",
        help="people use every verb meanwhile, and paths of workers are cut; the engines live on",
    )
    parser.add_argument(
        "--hosts",
        action="store_true",
        help="each engine and worker on a host of its own; the network between them is cut and lossy (as root)",
    )
    arguments = parser.parse_args()
    if arguments.hosts and missing():
        parser.error(missing())
    return arguments


if __name__ == "__main__":
    sys.exit(main())
