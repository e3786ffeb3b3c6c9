"""Generated clients ask a real web process, whose jobs a real worker runs: submit, wait, result, reason, error."""

import pytest

from tenants import auth
from tests.clients import python_client, typescript_client
from tests.factories import QueueFactory, TenantFactory

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long(
        "the types of openapi-typescript; the other generator's are in test_described.py, without a server"
    ),
]
FINAL = {"success", "error", "dead", "cancelled"}
SEEN = ["scheduled", "success", 1, "invalid_input", "priority"]  # gate, status, result, code, field


def test_generated_clients_read_each_answer(web, start_worker, tmp_path, subtests):
    QueueFactory(name="critical")
    start_worker(concurrency=1)
    key = auth.issue(TenantFactory(), "client")[1]
    ring = {"source_type": "tests.sample.tasks", "source_method": "ring"}
    with subtests.test("Python"), python_client(tmp_path, "live_client", web.url, key) as (call, models):
        later = call("submit_job", body=models.Submission(**ring, delay=3600.0, dedup=False))
        job = call("submit_job", body=models.Submission(**ring))
        while job.status not in FINAL:
            job = call("read_job", job.id, wait=10.0, seen=job.status)
        problem = call("submit_job", body=models.Submission(**ring, priority=11))
        seen = [call("read_reason", later.id).gate, job.status, call("read_result", job.id)]
        assert [*seen, problem.code, problem.errors[0].field] == SEEN
    with subtests.test("TypeScript"):
        gate, status, _, *refusal = SEEN
        assert typescript_client(tmp_path)(web.url, key) == [gate, status, 2, *refusal], (
            "the second call of this tenant"
        )
