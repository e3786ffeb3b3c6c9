"""Remove each guard of `jobs/sql` in turn, and see a test go red: `make mutants`, or for some, ARGS="claim start".

A guard that no test misses is a guard that the next change may lose. Each mutant is a copy of the tree in which one
guard is gone; the tests run there, first those that know the statement, then the others of the engine.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from rich.console import Console

from tests.architecture.guards import Guard, guards, without

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 1200  # seconds for one run of all; a single test has its own
VERBS = (
    "tests/integration/store/test_verbs.py",
    "tests/integration/store/test_verbs_control.py",
    "tests/integration/store/test_verbs_of_strangers.py",
)
SUBMIT = ("tests/integration/engine/test_submit_identical.py", "tests/integration/engine/test_submit_races.py")
CLAIM = (
    "tests/integration/store/test_verbs_claim.py",
    "tests/integration/store/test_claim.py",
    "tests/concurrency/test_door.py",
    "tests/integration/engine/test_burst.py",
    "tests/integration/store/test_trips_claim.py",
    "tests/integration/store/test_holds.py",
)
SLICES = ("tests/integration/engine/test_slices.py",)
TRIPS = tuple(f"tests/integration/store/test_trips{part}.py" for part in ("", "_claim", "_follow", "_suspects"))
LAST_DAY = ("tests/integration/api/test_last_day.py",)
LOOKING = ("tests/integration/store/test_looking.py",)
RECOVER = ("tests/integration/engine/test_recover.py",)
BUDGETS = "tests/integration/engine/test_budgets.py"
HISTORY = ("tests/integration/store/test_history.py",)
EXPIRES = "tests/integration/engine/test_expires.py"
NEWEST = "tests/integration/engine/test_newest.py"
SEQUENCES = ("tests/integration/engine/test_sequences.py", "tests/integration/engine/test_sequences_races.py")
AFTER = ("tests/integration/engine/test_after.py", "tests/integration/engine/test_after_races.py")
BATCHES = ("tests/integration/engine/test_batches.py", "tests/integration/engine/test_batch_races.py")
EVENTS = ("tests/integration/engine/test_events.py", "tests/integration/engine/test_events_races.py")
USAGE = (
    "tests/integration/engine/test_usage.py",
    "tests/integration/api/test_usage.py",
    "tests/integration/engine/test_record.py",
)
TARGETS = ("tests/integration/engine/test_wait_targets.py",)
WEBHOOKS = "tests/integration/webhooks/test_outbox.py"
POSTS = tuple(f"tests/integration/webhooks/test_{name}.py" for name in ("senders", "delivery"))
FORECASTS = tuple(f"tests/integration/forecasting/test_{name}.py" for name in ("duty", "outcomes", "look_ahead"))
HOLDS = "tests/integration/store/test_holds.py"
ERASED = "tests/integration/engine/test_revive_erased.py"
STACKS = "tests/integration/engine/test_stacks.py"
MOVES = "tests/integration/engine/test_moving.py"
KNOWING = {  # which tests know a statement, beside test_<statement>.py; the others are known by VERBS
    "start": (*VERBS, "tests/integration/engine/test_gaps.py", EXPIRES, BUDGETS),
    **dict.fromkeys(("hold_spent", "release"), (*VERBS, BUDGETS)),
    **dict.fromkeys(("settle_budgets", "budgets"), (BUDGETS,)),
    "health_budgets": ("tests/integration/api/test_budgets.py",),
    "lapse": (*VERBS, EXPIRES, *EVENTS),
    "turn_away": (*VERBS, EXPIRES),
    "prolong": (EXPIRES, *EVENTS),
    "wait_for": (*VERBS, *EVENTS),
    "tell": (*EVENTS, MOVES),
    **dict.fromkeys(("under_way_of_tenant", "note_departure", "note_arrival"), (MOVES,)),
    "replace": (*VERBS, NEWEST),
    **dict.fromkeys(("debounce", "make_way", "outdate"), (NEWEST,)),
    "gather": (*(f"tests/integration/engine/test_gather{part}.py" for part in ("", "_races")), MOVES),
    "read_ends": (*AFTER, *BATCHES, *SEQUENCES, *EVENTS),
    "unknown": (*AFTER, *BATCHES),
    **dict.fromkeys(("open_batch", "grow_batch", "close_batch", "read_batches", "begin_cancel"), BATCHES),
    "close_forgotten": ("tests/integration/engine/test_prune.py",),
    "forget_batches": ("tests/integration/engine/test_prune.py",),
    "submit": (*SUBMIT, WEBHOOKS),
    "claim": CLAIM,
    "open_line": (HOLDS,),
    "promote": (*VERBS, HOLDS),
    "follow": (*SLICES, EXPIRES, BUDGETS),
    "may_follow": (*TRIPS, *SLICES, HOLDS),
    **dict.fromkeys(("running_in", "start_kept"), (*SLICES, EXPIRES)),
    **dict.fromkeys(("succeed_many", "start_many", "is_suspect", "note_in_hand"), (*TRIPS, BUDGETS)),
    **dict.fromkeys(("fenced", "retry", "stop"), (*VERBS, *SLICES, NEWEST)),
    "has_succeeded": ("tests/integration/engine/test_ending_lost.py",),
    **dict.fromkeys(("left_behind", "end_sessions"), RECOVER),
    "take_back": (
        *VERBS,
        "tests/integration/engine/test_gaps.py",
        "tests/integration/store/test_attempts.py",
        *RECOVER,
    ),
    **dict.fromkeys(("tenant_statistics", "tenant_under_way"), LAST_DAY),
    **dict.fromkeys(("ended_between", "tenant_targets"), TARGETS),
    "fold": CLAIM,
    "tidy_turns": ("tests/integration/store/test_queues_asleep.py",),
    "worth": ("tests/concurrency/test_worth.py",),
    "live_pools": CLAIM,
    "awake_turns": (*CLAIM, "tests/integration/store/test_queues_asleep.py"),
    "idle_pools": RECOVER,
    "enter": CLAIM,
    "beat": RECOVER,
    "still_running": ("tests/integration/store/test_verbs_facts.py",),
    "heads": ("tests/integration/store/test_verbs_claim.py",),
    "declare_gone": RECOVER,
    "hand_over_again": ("tests/integration/store/test_verbs.py", *RECOVER),
    "orphans": RECOVER,
    "revive": (*VERBS, "tests/integration/engine/test_revive_bounds.py", ERASED),
    "take": ("tests/integration/engine/test_schedules.py",),
    **dict.fromkeys(("remembering", "increment", "compare_and_set"), ("tests/integration/store/test_memory.py",)),
    **dict.fromkeys(("archive", "forget_old"), HISTORY),
    "restore": (*HISTORY, ERASED, WEBHOOKS),
    **dict.fromkeys(("usage", "unbilled", "close_day", "record_hours"), USAGE),
    **dict.fromkeys(("ended_since", "open_predictions"), FORECASTS),
    **dict.fromkeys(("starts_of", "starts_of_tenant"), ("tests/integration/forecasting/test_interfaces.py",)),
    "hand_back": (*VERBS, "tests/integration/engine/test_checkpoints.py"),
    "wanted_back": ("tests/integration/processes/test_wanted_back.py",),
    "running_here": ("tests/integration/processes/test_reconcile.py", STACKS),
    **dict.fromkeys(("ask_stack", "answer_stack"), (STACKS,)),
    "notice_server": ("tests/integration/engine/test_numbers.py",),
    "forget_lanes": ("tests/integration/engine/test_back_pressure.py",),
    "odd_states": ("tests/integration/engine/test_inspection.py",),
    "missing_partition": ("tests/integration/store/test_partitions.py",),
    **dict.fromkeys(("erase_jobs", "erase_history"), ("tests/integration/engine/test_erase.py",)),
    "read_job": ("tests/integration/api/test_read.py",),
    "read_states": ("tests/integration/store/test_verbs_of_strangers.py",),
    **dict.fromkeys(("gone_tenants", "without_queue"), ("tests/concurrency/test_locks_of_strangers.py",)),
    "places": ("tests/integration/engine/test_explain.py",),
    **dict.fromkeys(("look_workers", "health_server", "health_quiet"), ("tests/integration/engine/test_health.py",)),
    **dict.fromkeys(("in_line", "look_lanes", "may_run"), LOOKING),
    "worked": ("tests/integration/engine/test_sample.py",),
    **dict.fromkeys(("take_webhooks", "note_turn"), POSTS),
    "reserve": ("tests/integration/api/test_idempotency.py",),
}
# In the other folders of tests/integration is what stands above the engine; these cost time, and tell of cost alone.
ENGINE = ("store", "engine", "processes", "deaths", "calls")
OF_COST = ("test_claim_plan", "test_explain_plan", "test_lines_do_not_block_each_other")


def knowing(statement: str) -> tuple[str, ...]:
    """The tests that know it best."""
    known = KNOWING.get(statement, VERBS)
    names = {f"test_{name}" for name in (statement, statement.partition("_")[0])}
    return (*(path for path in _engine() if Path(path).stem in names and path not in known), *known)


def everything() -> tuple[str, ...]:
    """The tests of the engine; the longest ones last."""
    return (*_engine(), "tests/concurrency")


def _engine() -> list[str]:
    folders = (REPOSITORY / "tests" / "integration" / folder for folder in ENGINE)
    paths = sorted(path for folder in folders for path in folder.glob("test_*.py") if path.stem not in OF_COST)
    return [str(path.relative_to(REPOSITORY)) for path in paths]


console = Console(highlight=False, soft_wrap=True)


class Broken(Exception):
    """The tests could not be run, or are red without any mutant: then red says nothing."""


def main(statements: Sequence[str]) -> int:
    """0: every guard is missed by a test. 1: some are not. 2: it cannot be said."""
    wanted = [guard for guard in guards(REPOSITORY) if not statements or guard.statement in statements]
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        copy = Path(directory)
        copy_tree(copy)
        try:
            check_green(copy, ("tests/architecture/test_guards.py",), "--create-db")
            survivors = [guard for guard in wanted if not dies(copy, guard)]
        except Broken as broken:
            console.print(str(broken), markup=False)
            return 2
    console.print(f"{len(wanted)} guards, {len(survivors)} survive without being missed")
    return 1 if survivors or not wanted else 0


def copy_tree(target: Path) -> None:
    """The files of the repository as they lie there, committed or not."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (REPOSITORY / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, target / name)


def dies(copy: Path, guard: Guard) -> bool:
    """Whether a test goes red when this guard is gone; says which."""
    begin = time.monotonic()
    red = ""
    for tests in (knowing(guard.statement), everything()):
        check_green(copy, tests)
        with mutant(copy, guard):
            red = first_red(copy, tests)
        if red:
            break
    verdict = f"red: {red}" if red else "SURVIVES"
    console.print(f"{guard!s:24} {guard.invariant:3} {verdict} ({time.monotonic() - begin:.1f} s)", markup=False)
    return bool(red)


@contextmanager
def mutant(copy: Path, guard: Guard) -> Iterator[None]:
    """The copy without that guard."""
    path = copy / guard.path
    text = path.read_text(encoding="utf-8")
    path.write_text(without(text, guard), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")


@cache
def check_green(copy: Path, tests: tuple[str, ...], *options: str) -> None:
    """Raises Broken if these tests are red without any mutant."""
    if red := first_red(copy, tests, *options):
        raise Broken(f"red without a mutant: {red}")


def first_red(copy: Path, tests: Iterable[str], *options: str) -> str:
    """The first test that fails in that tree; "" if all pass. Raises Broken."""
    command = [sys.executable, "-m", "pytest", *tests, "-x", "-q", "--reuse-db", "--timeout=60", *options]
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ended = subprocess.run(
            command, cwd=copy, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise Broken(f"no end within {PATIENCE} s: {' '.join(command)}") from None
    if ended.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$", ended.stdout, re.MULTILINE)
    if ended.returncode != 1 or failed is None:
        raise Broken(f"{' '.join(command)}\n{ended.stdout}\n{ended.stderr}")
    return failed[1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
