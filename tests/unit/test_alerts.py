"""The rules, the board and the scaler name metrics that exist, and every alert a runbook that exists."""

import json
import re
from datetime import timedelta
from uuid import uuid4

import promql_parser
import yaml
from prometheus_client import CollectorRegistry, generate_latest

from embedded import REPOSITORY
from jobs.contrib.metrics.collector import Look
from jobs.models import Repair, Sample
from jobs.reading.blocks import BlockNow, BlocksOfType
from jobs.reading.health import RULES, Facts
from jobs.reading.health.ended import EndedLook
from jobs.reading.health.looks import BudgetLook, ForecastLook, PredictionsLook, ServerLook, TotalLook, WebhooksLook
from jobs.reading.statistics import BUCKETS
from tests.unit.test_health import worker
from tests.unit.test_waits import NOW, lane, queue

ALERTS = yaml.safe_load((REPOSITORY / "deploy/prometheus/rules.yml").read_text())["groups"]
BOARD = json.loads((REPOSITORY / "deploy/grafana/scheduler.json").read_text())
SCALER = yaml.safe_load((REPOSITORY / "deploy/kubernetes/keda/worker-default.yaml").read_text())
FACTS = Facts(
    queues={1: queue(processes=4, used=3, late=1)},
    lanes=[lane(passing=2)],
    workers=[worker(), worker("mail", kind="light", database_wait=0.5)],
    server=ServerLook(NOW, True, 3.0, 0.5, 10, 100, 0, 1),
    ended=EndedLook(100, 1, 0),
    repairs=[Repair(kind="finding", count=2, last_at=NOW - timedelta(seconds=9999))],
    sample=Sample(states={"full": 2}, fairness=0.98),
    starved=[],
    cache=True,
    predictions=PredictionsLook(300, 9, 280, 141, 270, 244, 210, 190, 0.9, 1.2, 2.3, 3.0, 2.5, 3.3),
    webhooks=WebhooksLook(9, 1, 0, 2, 5, 60.0),
    blocked=[BlockNow(uuid4(), "mail", "a.thing.run", 1, "m.py:3 f", 9, 0.4)],
    blocks=[BlocksOfType("mail", "a.thing.run", 2, 1.5, 1, "m.py:3 f"), BlocksOfType("mail", "", 1, 0.5, None, "")],
    targets=[],
    quiet=[],
    budgets=[BudgetLook("acme", "tokens", 99, 100)],
)
FORECASTS = ForecastLook({"": 290, "far": 10}, {"default": 8.0}, 0.3)
ONE = [1] + [0] * (BUCKETS - 1)
TOTALS = [
    TotalLook(queue, "a.thing", "run", outcome, 1, 0.5, ONE, ONE, ONE, targeted, in_time, 0.2, 0.1)
    for queue, targeted, in_time in (("default", 0, 0), ("mails", 5, 3))
    for outcome in ("success", "error")
]


def told() -> str:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Look(FACTS, TOTALS, FORECASTS))
    return generate_latest(registry).decode()


def expressions() -> list[str]:
    of_rules = [rule["expr"] for group in ALERTS for rule in group["rules"]]
    of_board = [target["expr"] for panel in BOARD["panels"] for target in panel["targets"]]
    return [*of_rules, *of_board, *(trigger["metadata"]["query"] for trigger in SCALER["spec"]["triggers"])]


def names_in(node: object) -> set[str]:
    """The metrics that an expression reads."""
    if isinstance(node, promql_parser.VectorSelector):
        return {node.name}
    parts = [getattr(node, part, None) for part in ("lhs", "rhs", "expr", "vector_selector", "vs")]
    parts += list(getattr(node, "args", None) or [])
    return set().union(*(names_in(part) for part in parts if part is not None))


def test_every_expression_reads_metrics_that_exist(subtests):
    recorded = {rule["record"] for group in ALERTS for rule in group["rules"] if "record" in rule}
    there = set(re.findall(r"^(\w+)(?:\{| )", told(), re.MULTILINE)) | recorded | {"up"}
    for expression in expressions():
        with subtests.test(expression):
            names = names_in(promql_parser.parse(expression))
            assert names
            assert names <= there


def test_every_condition_has_an_alert_of_its_severity_with_its_runbook():
    alerts = {
        code: (rule["labels"]["severity"], rule["annotations"]["runbook_url"])
        for group in ALERTS
        for rule in group["rules"]
        for code in re.findall(r'code="(\w+)"', rule["expr"])
    }
    assert alerts == {rule.code: (rule.severity, f"docs/runbooks/{rule.code}.md") for rule in RULES}


def test_every_runbook_is_a_page():
    urls = {rule["annotations"]["runbook_url"] for group in ALERTS for rule in group["rules"] if "alert" in rule}
    assert [url for url in sorted(urls) if not (REPOSITORY / url).exists()] == []


def test_every_condition_has_a_runbook_with_the_same_headings():
    pages = {page.stem: page.read_text() for page in (REPOSITORY / "docs/runbooks").glob("*.md")}
    assert set(pages) == {rule.code for rule in RULES} | {"no_database"}
    headings = ["What it means", "What suffers", "Look", "Do", "Afterwards"]
    assert {code: re.findall("^## (.*)", text, re.M) for code, text in pages.items()} == dict.fromkeys(pages, headings)
    first_words = {code: re.search(r"^(Critical|Warning|Info)\. ", text, re.M) for code, text in pages.items()}
    severities = {code: found[1].lower() for code, found in first_words.items()}
    assert severities == {rule.code: rule.severity for rule in RULES} | {"no_database": "critical"}
    assert [code for code, text in pages.items() if f"(`{code}`)" not in text.partition("\n")[0]] == []


def test_the_documents_name_every_condition_and_metric():
    pages = ("operations.md", "reference/metrics.md")
    text = "".join((REPOSITORY / "docs" / page).read_text() for page in pages)
    assert [rule.code for rule in RULES if f"`{rule.code}`" not in text] == []
    families = set(re.findall(r"^# TYPE scheduler_(\w+) ", told(), re.MULTILINE))
    assert [name for name in sorted(families) if f"`{name}`" not in text] == []


def test_a_light_pool_has_its_blocks_and_waits_and_an_ordinary_one_has_none():
    found = dict(re.findall(r'^scheduler_((?:loop|blocked|database_wait)\w+)\{pool="mail"\} (.+)$', told(), re.M))
    assert found == {
        "blocked_loops": "1.0",
        "loop_blocks": "3.0",
        "loop_blocked_seconds": "2.0",
        "database_wait_seconds": "0.5",
    }
    assert not re.search(r'^scheduler_(loop|blocked|database_wait)\w+\{pool="default"\}', told(), re.M)


def test_a_histogram_is_cumulative_and_ends_with_all():
    lines = dict(
        re.findall(r'^scheduler_attempt_wait_seconds_bucket\{le="(.+?)",queue="default"\} (.+)$', told(), re.M)
    )
    counts = [float(count) for count in lines.values()]
    assert counts == sorted(counts)
    assert (list(lines)[-1], counts[-1]) == ("+Inf", 2.0)
    assert 'scheduler_attempt_wait_seconds_sum{queue="default"} 0.4' in told()


def test_attempts_with_a_wait_target_are_told_of_the_queues_that_had_one():
    found = re.findall(r'^scheduler_(\w+)_attempts_total\{queue="(\w+)"\} (.+)$', told(), re.M)
    assert found == [("targeted", "mails", "10.0"), ("in_time", "mails", "6.0")]
