"""The adapter for a public benchmark keeps its contract, and no job is lost when one of two dies."""

import json
import subprocess
import sys

import pytest

from benchmarks.public.adapter import MANIFEST
from embedded import REPOSITORY
from tests.thorough import only_thorough

REQUIRED = {"claim_p50_ms", "claim_p95_ms", "claim_p99_ms", "enqueue_rate", "completion_rate", "queue_depth"}


@only_thorough  # forty seconds
@pytest.mark.long("an adapter that loses a job when another one dies")
@pytest.mark.timeout(200)
def test_a_death_of_one_of_two_adapters_loses_no_job(without_engines):
    argv = [sys.executable, "-m", "benchmarks.public", "crash", "--seconds", "6"]
    done = subprocess.run(
        argv, cwd=REPOSITORY, env=without_engines, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'failed': 0, 'waiting': 0" in done.stdout


@pytest.mark.long("an adapter that does not start, a field of the contract that is missing")
def test_the_adapter_reports_all_of_the_contract_and_ends_when_asked(without_engines):
    environ = without_engines | {"SAMPLE_EVERY_S": "1", "PRODUCER_RATE": "20", "WORKER_COUNT": "1"}
    inner = [sys.executable, "-m", "benchmarks.public.adapter"]
    argv = [sys.executable, "-m", "embedded", "run", "--throwaway", "--", *inner]
    with subprocess.Popen(argv, cwd=REPOSITORY, env=environ, stdout=subprocess.PIPE, text=True) as adapter:
        told = []
        for line in adapter.stdout:
            told.append(json.loads(line))
            if len(told) > 5 * len(REQUIRED):
                adapter.terminate()
                break
        adapter.wait(60)
    assert told[0]["kind"] == "descriptor"
    assert told[0]["event_tables"] == MANIFEST["event_tables"]
    samples = told[1:]
    assert {one["metric"] for one in samples} == REQUIRED
    assert {tuple(sorted(one)) for one in samples} == {
        ("kind", "metric", "subject", "subject_kind", "system", "t", "value", "window_s")
    }
    assert any(one["value"] > 10 for one in samples if one["metric"] == "enqueue_rate")
