"""What the operators' pages compute: where jobs wait, who needs attention, charts, masks; and what is vendored."""

import hashlib
import itertools
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError, InterfaceError
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from docs.pictures import shown
from embedded import REPOSITORY
from jobs.allocation.gates import Gate
from jobs.console.ops.job.view import like_it, way
from jobs.console.ops.overview.reads import most_failing
from jobs.console.ops.queues.emptying import emptying
from jobs.console.ops.shared import ended_chart, strips
from jobs.console.ops.shared.snapshot import Snapshot
from jobs.console.ops.shared.tags import short, span
from jobs.console.ops.shared.type_names import breakable
from jobs.models import AnyFailedAttempt, AnyJob
from jobs.pages import cached
from jobs.pages.attempt_rows import attempt_rows
from jobs.reading import listing
from jobs.reading.looking import SlotsInUse, Worker
from jobs.reading.masked import masked
from jobs.reading.revivals import Revival
from jobs.reading.standing import StandingState
from jobs.reading.statistics import BUCKETS, OUTCOMES
from plumbing.text import duration
from tenants.models import Tenant as Owner
from tests.unit.test_waits import lane, queue, tenant

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


STATIC = REPOSITORY / "jobs" / "static" / "jobs" / "ops"
VENDORED = {  # npm, idiomorph 0.8.0, 0BSD: dist/idiomorph.min.js and LICENSE, unchanged
    "idiomorph-0.8.0.min.js": "4cbd535caf7663a51eda9bce6595371c384fc430d54b8d414e29a61167f19f96",
    "idiomorph-LICENSE.txt": "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
}


def snapshot(tenants, queues, lanes, **more) -> Snapshot:
    by_id = {"tenants": {one.id: one for one in tenants}, "queues": {one.id: one for one in queues}}
    return Snapshot(at=NOW, lanes=lanes, **by_id, **more)


def worker_of(pool: str, processes: int) -> Worker:
    facts = {"database_wait": None, "lost": False, "leads": False}
    return Worker(uuid4(), pool[0], 1, pool, "ordinary", processes, 1, 5.0, NOW, NOW, None, None, **facts)


def test_a_pool_without_a_queue_is_shown_too():
    worker, idle = worker_of("default", 4), worker_of("idle", 2)
    seen = snapshot([], [queue(processes=4, used=1)], [lane(passing=8)], workers=[worker, idle])
    default, other = seen.pools
    assert (default.name, default.processes, default.in_use, default.may_run) == ("default", 4, 1, 8)
    assert (other.name, other.processes, other.demand, other.missing) == ("idle", 2, 0, 0)


def test_tenants_that_need_attention_come_first():
    tenants = [
        tenant(1, in_use=1),
        tenant(2, paused=True),
        tenant(3, slots=1, in_use=1),
        tenant(4, tokens=0.0),
        tenant(5),
        tenant(6),
        tenant(8, slots=0),
    ]
    hungry = replace(tenant(7), got=30.0, entitled=100.0, got_hour=700.0, entitled_hour=1000.0)
    long_ago = NOW - timedelta(minutes=2)
    lanes = [
        lane(2, gate=Gate.TENANT_PAUSED, waiting=2),
        lane(8, gate=Gate.NO_SLOTS, waiting=2),
        lane(3, gate=Gate.SLOTS_FULL, waiting=2),
        lane(4, no_tokens=True, waiting=2),
        lane(5, queue_id=2, passing=1),
        lane(7, passing=1, waiting=130, since=long_ago),
        lane(None, passing=9, lanes=9, since=None),
    ]
    in_use = [SlotsInUse(1, None, "a.b", 1), SlotsInUse(3, None, "a.b", 1)]
    seen = snapshot([*tenants, hungry], [queue(1), queue(2, paused=True)], lanes, in_use=in_use)
    told = [(one.tenant.id, one.state) for one in seen.standings]
    assert told == [
        (2, StandingState.PAUSED),
        (8, StandingState.NO_SLOTS),
        (7, StandingState.STARVED),
        (3, StandingState.FULL),
        (4, StandingState.LIMITED),
        (5, StandingState.WAITING),
        (1, StandingState.BUSY),
    ]
    assert {one.tenant.id: one.share for one in seen.standings}[7] == "70 %"
    assert seen.unseen == 9


def ended(minute: int, outcome: str, attempts: int, bucket: int = 5) -> ended_chart.EndedInStep:
    buckets = [0] * BUCKETS
    buckets[bucket] = attempts
    return ended_chart.EndedInStep(NOW + timedelta(minutes=minute), outcome, attempts, buckets)


def drawn(*found: ended_chart.EndedInStep) -> ended_chart.Chart:
    return ended_chart.chart(found, NOW, timedelta(minutes=1), 10)


def test_a_bar_stacks_the_outcomes_from_good_to_bad():
    chart = drawn(ended(2, "error", 1), ended(2, "success", 3), ended(4, "retry", 2), ended(10, "success", 99))
    assert (chart.total, chart.top) == (6, 4)
    boxes = re.findall(r'<rect class="(\w+)" x="\S+" y="(\S+)" width="\S+" height="(\S+)"/>', chart.bars)
    assert boxes == [("good", "25", "75"), ("bad", "0", "25"), ("again", "50", "50")]


def test_each_outcome_of_an_attempt_has_its_place_in_the_legend_and_failures_are_never_grey():
    number = {outcome: 2**place for place, outcome in enumerate(OUTCOMES)}
    chart = drawn(*(ended(1, outcome, attempts) for outcome, attempts in number.items()))
    put_off = ("snooze", "hand_back", "wait_for", "stopped")
    assert chart.legend == [
        ("good", number["success"], "succeeded"),
        ("later", sum(number[outcome] for outcome in put_off), "put off"),
        ("calm", number["cancelled"], "cancelled"),
        ("again", number["retry"] + number["crash"], "failed and retried"),
        ("bad", number["error"] + number["dead"], "failed for good"),
    ]
    assert [outcome for outcome in OUTCOMES if ended_chart.is_failure(outcome)] == ["error", "dead", "retry", "crash"]


def test_a_bar_is_a_link_that_searches_the_jobs_of_its_time_with_its_words_for_the_pointer():
    svg = drawn(ended(2, "error", 1), ended(2, "success", 3)).bars
    assert svg == (
        '<a href="?q=ended_since:2026-11-22T12:02+ended_until:2026-11-22T12:03" data-n="2" tabindex="-1">'
        "<title>12:02: 3 succeeded, 1 failed for good</title>"
        '<rect class="good" x="126" y="25" width="48" height="75"/>'
        '<rect class="bad" x="126" y="0" width="48" height="25"/></a>'
    )


def test_the_day_before_is_a_line_on_the_same_scale_and_in_no_number_of_this_day():
    day, before = timedelta(days=1), [ended(2, "success", 30), ended(3, "dead", 40, bucket=32)]
    before = [replace(one, at=one.at - day) for one in before]
    chart = ended_chart.chart([ended(2, "success", 9)], NOW, timedelta(minutes=1), 10, before=before)
    assert (chart.total, chart.top, chart.ghost.attempts, chart.ghost.words) == (9, 40, 70, "the day before")
    assert "L150.0 25.0L210.0 0.0L270.0 100.0" in chart.ghost.ended
    assert chart.ghost.p95.startswith("M150.0 ")
    assert chart.scale[0][1] == "1 h"
    assert drawn(ended(2, "success", 9)).ghost is None


def test_the_waits_are_shown_for_each_step():
    chart = drawn(ended(2, "success", 3, bucket=10))
    assert chart.waits == '<g data-n="2"><title>12:02: half waited at most 0.2 s, 95 of 100 at most 0.3 s</title></g>'


@given(st.integers(1, 10**9))
def test_the_scale_of_the_bars_ends_at_a_round_number_with_a_whole_half(most):
    top = drawn(ended(2, "success", most)).top
    assert most <= top < max(most * 2.5, 3)
    assert top % 2 == 0
    assert re.fullmatch("[124]0*", str(top))


def test_one_outlier_flattens_no_line():
    chart = drawn(ended(1, "success", 99, bucket=13), ended(2, "success", 1, bucket=32))  # 0.8 s; 40 min
    first, outlier = (float(y) for y in re.findall(r"[ML]\S+ (\S+?)(?=[MLh]|$)", chart.p95))
    assert outlier < 10
    assert 70 < first < 85
    assert [label for _, label in chart.scale][:: len(chart.scale) - 1] == ["1 h", "0.1 s"]
    assert all(above + 20 <= below for (above, _), (below, _) in itertools.pairwise(chart.scale))


def test_moments_are_told_with_their_day_if_there_are_several():
    assert drawn().moments == ["12:00", "12:05", "12:10"]
    assert ended_chart.chart([], NOW, timedelta(hours=3), 56).moments == [
        "22 Nov 12:00",
        "26 Nov 00:00",
        "29 Nov 12:00",
    ]


def test_a_chart_of_nothing_has_nothing():
    chart = drawn()
    assert (chart.bars, chart.total, chart.p50, chart.times.p95, chart.waits) == ("", 0, "", None, "")


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ([], ""),
        ([None, None], ""),
        ([1.0], "M0.0 0.0h600.0"),
        ([0.5, 1.0], "M150.0 50.0L450.0 0.0"),
        ([1.0, None, 0.5, 0.5], "M0.0 0.0h150.0M375.0 50.0L525.0 50.0"),
        ([0.0, 0.0], "M150.0 100.0L450.0 100.0"),
    ],
)
def test_a_line_has_gaps_where_there_is_nothing(values, path):
    assert ended_chart.path(values) == path


def test_attempts_lie_on_one_scale_where_long_waits_are_cut_and_a_dead_job_does_not_wait():
    def at(seconds: float) -> datetime:
        return NOW + timedelta(seconds=seconds)

    job = AnyJob(id=1, created_at=NOW, status="running", attempt=3, queued_at=at(1050), start_time=at(1050))
    failed = AnyFailedAttempt(job_id=1, attempt=1, queued_at=NOW, start_time=at(10), end_time=at(20))
    found = attempt_rows(job, [failed], [Revival(at(1000), "ines")], at(1060), lambda failure: "no")
    rows = [[(piece.kind, piece.seconds, piece.is_cut) for piece in row.pieces] for row in found.rows]
    assert rows == [
        [("off", 980.0, True), ("line", 50.0, True), ("run", 10.0, False)],
        [("start", 10.0, True), ("failed", 10.0, False)],
    ]
    drawn = [(piece.x, piece.width) for row in found.rows[::-1] for piece in row.pieces]
    assert drawn == [
        approx(pair) for pair in [(0, 100 / 6), (100 / 6, 25), (125 / 3, 100 / 6), (175 / 3, 100 / 6), (75, 25)]
    ]
    told = [(row.number, row.error, row.skipped, [one.who for one in row.revived]) for row in found.rows]
    assert told == [(3, "", (2,), ["ines"]), (1, "no", (), [])]
    job.status, job.attempt = "created", 1
    waits = attempt_rows(job, [failed], [], at(30), str).rows[0]
    assert (waits.number, waits.waits, waits.seconds) == (2, True, {"line": 10.0})
    whole = [piece for row in attempt_rows(job, [failed], [], at(9e5), str).rows for piece in row.pieces]
    assert all(piece.x + piece.width <= 100.01 for piece in whole)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(None, "–"), ("", "–"), (-3.0, "0.0 s"), (0.44, "0.4 s"), (240.0, "4 min"), (7200.0, "2 h"), (2e5, "2 d")],
)  # fmt: skip
def test_durations_are_told_in_their_largest_unit(seconds, told):
    assert span(seconds) == told
    if isinstance(seconds, float):
        assert duration(seconds, tight=True) == told.replace(" ", "").replace("min", "m")


def test_arguments_whose_names_say_secret_are_masked_wherever_they_are(settings):
    settings.JOBS_MASKED_ARGS = ["Pass-Word", "API_KEY", "token"]
    args = {"user": "ines", "Password": "x", "nested": [{"api-key": 1, "year": 2004}], "access_token": 0, "apiKey": 1}
    assert masked(args) == {
        "user": "ines",
        "Password": "•••",
        "nested": [{"api-key": "•••", "year": 2004}],
        "access_token": "•••",
        "apiKey": "•••",
    }
    assert masked("token") == "token"


@pytest.mark.parametrize("name", VENDORED)
def test_vendored_files_are_as_their_authors_published_them(name):
    assert hashlib.sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() == VENDORED[name]


def test_nothing_else_is_vendored_and_the_files_are_small():
    assert {path.name for path in (STATIC / "vendor").iterdir()} == set(VENDORED)
    sizes = {path.name: path.stat().st_size for path in STATIC.glob("*.css")}
    assert sizes["ops.css"] <= 20_000, "all that the first page loads of them"
    assert sum(sizes.values()) <= 28_000
    assert sum(path.stat().st_size for path in STATIC.rglob("*.js")) <= 25_000


def test_the_first_page_has_nothing_of_the_sheet_that_it_does_not_load():
    shared, detail = (
        {*re.findall(r"\.([a-z][\w-]*)", (STATIC / f"{name}.css").read_text())} for name in ("ops", "detail")
    )
    text = " ".join(path.read_text() for path in shown.templates("overview"))
    classes = {name for found in re.findall(r'class="([^"]*)"', text) for name in found.split()}
    assert len(classes & shared) > 10
    assert not classes & (detail - shared)


def test_no_script_imports_another_or_is_a_module():
    """Where files have names with digests, the import would have the plain name, and the page would have both; and
    browsers take modules from another site, such as a project's static files, only if that says so."""
    assert not [path.name for path in STATIC.glob("*.js") if "import" in path.read_text()]
    templates = (REPOSITORY / "jobs" / "templates").rglob("*.html")
    assert not [path.name for path in templates if 'type="module"' in path.read_text(encoding="utf-8")]


def test_no_template_has_an_inline_style_or_script():
    for path in (REPOSITORY / "jobs" / "templates" / "jobs" / "ops").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bstyle=|\bon\w+=\"|<style|<script(?![^>]* src=)|\|safe\b|autoescape off", text), path


def letters(strip: str, steps: int) -> str:
    """A letter for each step of a strip, as its paths draw it."""
    found = [" "] * steps
    for letter, path in re.findall(r'<path class="(.)\w+" d="([^"]+)"/>', strip):
        for start, length in re.findall(r"M(\d+) 0h(\d+)v1h-\d+z", path):
            assert found[int(start) : int(start) + int(length)] == [" "] * int(length)
            found[int(start) : int(start) + int(length)] = letter * int(length)
    return "".join(found)


def test_a_line_is_empty_when_it_goes_on_as_in_the_last_minutes():
    assert emptying([None, 130, None, 110, 100], 90) == "empty in about 9 min"
    assert emptying([40, 60, 80, 100], 120) == "grows by 20 a minute"
    assert emptying([100, 90, 110, 100], 100) == "gets no shorter"
    assert [emptying(waiting, 90) for waiting in ([], [None], [130, 120, 110], [130, None, None])] == [""] * 4
    assert emptying([9, 8, 7, 6], 5) == "", "a short line"


def test_a_strip_shows_each_step_by_its_level_and_what_is_unknown_as_nothing():
    one = strips.strip([None, 0.0, 0.01, 0.49, 0.5, 0.94, 0.95, 1.0, None, 1.0])
    assert letters(one, 10) == "  ssmmff f"
    assert 'viewBox="0 0 10 1"' in one
    assert "<title>Full for 3 of 8 samples</title>" in one
    assert strips.strip([]) == strips.strip([None]) == ""


@given(st.lists(st.none() | st.floats(0, 1), max_size=30))
def test_a_strip_draws_every_step_that_was_in_use_once(shares):
    assert letters(strips.strip(shares), len(shares)).count(" ") == sum(not share for share in shares)


def test_a_curve_reaches_its_top_at_the_most_and_is_nothing_without_any():
    assert '<path d="M0 20V20h1V20h1V0h1V10h1V20z"/>' in strips.curve([0, None, 4, 2])
    assert 'viewBox="0 0 4 20" preserveAspectRatio="none" aria-hidden="true"' in strips.curve([0, None, 4, 2])
    assert 'role="img" aria-label="6 &lt;dead&gt;"' in strips.curve([6], "6 <dead>")
    assert strips.curve([0, None]) == strips.curve([]) == ""


def attempts(method: str, outcome: str, count: int) -> tuple[str, str, str, int]:
    return ("shop.order", method, outcome, count)


def test_failing_types_are_listed_with_retries_the_most_first():
    ended = [attempts("pay", "success", 90), attempts("pay", "retry", 6), attempts("pay", "crash", 1)]
    ended += [attempts("ship", "dead", 9), attempts("mail", "success", 5), attempts("mail", "cancelled", 5)]
    assert most_failing(ended) == [("shop.order.ship", 9, 9), ("shop.order.pay", 7, 97)]
    many = [attempts(f"m{n}", "error", 10 + n) for n in range(9)]
    assert [name for name, *_ in most_failing(many)] == [f"shop.order.m{n}" for n in (8, 7, 6, 5, 4)]


JOB = {"source_type": "shop.order", "source_method": "pay", "source_id": "7"}
BEEN = [
    ({"status": "created"}, "created"),
    ({"status": "scheduled"}, "scheduled"),
    ({"status": "queued", "attempt": 1}, "created queued"),
    ({"status": "running", "attempt": 1, "start_time": NOW}, "created queued running"),
    ({"status": "scheduled", "attempt": 1, "retries": 1, "start_time": NOW}, "scheduled created queued running"),
    ({"status": "success", "attempt": 1, "start_time": NOW}, "created queued running success"),
    ({"status": "cancelled"}, "cancelled"),
]


@pytest.mark.parametrize(("fields", "been"), BEEN)
def test_a_job_shows_its_way_as_far_as_it_is_known(fields, been):
    stops = way(AnyJob(**JOB, **fields))
    assert " ".join(name for name, passed, _ in stops if passed) == been
    assert [name for name, _, here in stops if here] == [fields["status"]]
    assert len(stops) == 5


WAITED = [
    ({"created_at": ago(9)}, None),
    ({"created_at": ago(9), "ready_at": ago(3)}, 3),
    ({"ready_at": ago(-1)}, 0),
    ({"ready_at": ago(2), "waited_since": ago(8), "queued_at": ago(6), "start_time": ago(5)}, 2),  # it is ready again
    ({"waited_since": ago(8), "queued_at": ago(6)}, 8),
    ({"created_at": ago(9), "waited_since": ago(8), "queued_at": ago(6), "start_time": ago(5)}, 3),
    ({"waited_since": ago(8), "queued_at": ago(6), "end_time": ago(4)}, 4),  # cancelled before its start
]


@pytest.mark.parametrize(("moments", "seconds"), WAITED)
def test_a_wait_is_from_ready_to_the_start_on_pages_and_in_the_api_and_at_the_command_line(moments, seconds):
    job = AnyJob(**JOB, **moments)
    assert listing.waited(job, NOW) == seconds


PARTS = [
    ({"own_until": ago(6)}, "2.0 s for own limits, 1.0 s for a process"),
    ({"own_until": ago(8)}, "3.0 s for a process"),
    ({"own_until": None}, "3.0 s for a process"),  # of an older release
    ({"own_until": ago(2)}, "3.0 s for own limits"),  # the clock was set back
    ({"own_until": ago(6), "ready_at": ago(1)}, ""),  # it waits again
    ({"own_until": ago(6), "start_time": None}, ""),
]


@pytest.mark.parametrize(("moments", "words"), PARTS)
def test_a_wait_that_is_over_tells_for_what_it_was(moments, words):
    job = AnyJob(**JOB, **{"waited_since": ago(8), "start_time": ago(5)} | moments)
    assert listing.wait_in_words(job) == words


def test_a_job_leads_to_those_like_it_by_words_that_the_search_understands():
    job = AnyJob(**JOB, user_key="two words", last_error="TimeoutError: 3 s", tenant=Owner(slug="acme"))
    assert like_it(job) == [
        ("same object", "tenant:acme type:shop.order.pay source:7"),
        ("same type and tenant", "tenant:acme type:shop.order.pay"),
        ("same error", "error:TimeoutError type:shop.order.pay"),
    ]


def test_a_kept_value_is_read_again_when_old_and_stays_if_it_cannot_be_read():
    read: list[str] = []

    def slow(key: str) -> int:
        read.append(key)
        if len(read) == 3:
            raise DatabaseError
        return len(read)

    one = cached.Cached(slow, before=0, seconds=30.0)
    assert [one("a"), one("a"), one("b")] == [1, 1, 2]
    assert one.age("a") is None
    one.seconds = 0.0
    assert one("a") == 1
    assert one.age("a") > 0
    assert one("a") == 4
    assert one.age("a") is None


def test_while_one_reads_what_is_kept_the_others_get_the_last_value_and_the_first_ones_wait():
    begun, go_on = threading.Event(), threading.Event()
    values = iter((1, 2, 3))

    def slow(key: str) -> int:
        begun.set()
        assert go_on.wait(30)
        return next(values)

    one = cached.Cached(slow, before=0, seconds=0.0)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(one, "a")
        assert begun.wait(30)
        second = pool.submit(one, "a")  # there is no value yet
        go_on.set()
        assert sorted((first.result(30), second.result(30))) == [1, 2]
        begun.clear()
        go_on.clear()
        third = pool.submit(one, "a")
        assert begun.wait(30)
        assert one("a") == 2
        go_on.set()
        assert third.result(30) == 3


def test_a_reader_that_needs_a_fresh_value_waits_and_reads_again_after_a_failure():
    begun, go_on = threading.Event(), threading.Event()
    values = iter((1, 2, None, 3))

    def slow() -> int:
        begun.set()
        assert go_on.wait(30)
        if (value := next(values)) is None:
            raise InterfaceError
        return value

    one = cached.Cached(slow, before=None, seconds=30.0, waits=True)

    def told_two_at_once() -> tuple[int | None, int | None]:
        one.forget()
        begun.clear()
        go_on.clear()
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(one)
            assert begun.wait(30)
            second = pool.submit(one)
            with pytest.raises(TimeoutError):
                second.result(0.1)
            go_on.set()
            return first.result(30), second.result(30)

    go_on.set()
    assert one() == 1
    assert told_two_at_once() == (2, 2)
    assert told_two_at_once() == (None, None), "both are told of the failure of the one read"
    assert (one(), one()) == (3, 3), "who asks later reads again"


def test_the_kept_values_do_not_grow_for_ever(monkeypatch):
    monkeypatch.setattr(cached, "MAX_VALUES", 2)
    read: list[int] = []
    one = cached.Cached(read.append, before=None, seconds=30.0)
    for key in (1, 2, 3, 3, 1):
        one(key)
    assert read == [1, 2, 3, 1]


def test_a_slow_read_rests_until_its_value_is_forgotten():
    read: list[None] = []
    one = cached.Cached(lambda: read.append(time.sleep(0.01)), before=None, seconds=0.0, rest=1000.0)
    one(), one()
    assert len(read) == 1
    one.forget()
    one()
    assert len(read) == 2


def test_the_next_token_of_any_queue_opens_the_gate_of_rates():
    empty, full = queue(1, tokens=0.4), queue(2, tokens=3)
    later = replace(queue(3, tokens=0), next_at=NOW + timedelta(seconds=9))
    soon = replace(empty, next_at=NOW + timedelta(seconds=4))
    seen = snapshot([tenant()], [soon, replace(full, next_at=NOW), later], [])
    assert seen.opens_at(Gate.QUEUE_RATE) == NOW + timedelta(seconds=4)
    assert seen.opens_at(Gate.TENANT_RATE) is None
    assert seen.opens_at(Gate.SLOTS_FULL) is None


@pytest.mark.parametrize(("text", "shown"), [("", ""), ("abcd", "abcd"), ("abcde", "abc…")])
def test_a_long_text_ends_with_a_sign_that_more_follows(text, shown):
    assert short(text, 4) == shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("lab.tasks.push_invoice", "lab.<wbr>tasks.<wbr>push_<wbr>invoice"),
        ("__init__.run", "__<wbr>init__.<wbr>run"),
        ("internationalization.x", "internationalization.<wbr>x"),
        ("x" * 30, "<wbr>".join(["x" * 12, "x" * 18])),
        ("E: no <b> at a.b", "E: <wbr>no <wbr>&lt;b&gt; <wbr>at <wbr>a.<wbr>b"),
    ],
)
def test_a_line_breaks_a_name_after_its_words_and_within_a_word_that_no_phone_has_room_for(name, shown):
    assert breakable(name) == shown
