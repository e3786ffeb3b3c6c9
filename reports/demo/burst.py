"""The burst of the demo: people press Run over HTTP, some of them twice, and models submit a batch."""

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any

from reports.demo.catalogue import Customer, Sample
from reports.models import DataReport
from tenants.models import Tenant

PRESSES = 25  # of Run, per slot
BATCH = 25  # jobs from models, per slot
HEAVY_SHARE = 0.2  # of the presses
PATH = "/api/v1/jobs"
Arguments = dict[str, Any]


@dataclass
class Submissions:
    """The answers to one tenant: the ids of its jobs, and the number of deduplicated submissions."""

    ids: set[int] = field(default_factory=set)
    deduplicated: int = 0


def press_run(port: int, token: str, customer: Customer, tenant: Tenant, seed: int) -> Submissions:
    """Submit over HTTP with the tenant's API key. Raises `RuntimeError` if the API refuses."""
    reports = _reports(tenant)
    chance = random.Random(seed)  # noqa: S311 - a repeatable burst, no secret
    submissions = Submissions()
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    for sample, parameters in _presses(customer, chance):
        call = {
            "source_type": "reports.datareport",
            "source_id": reports[sample.name].pk,
            "source_method": "execute",
            "args": {"parameters": parameters},
        }
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request("POST", PATH, json.dumps(call), headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        if response.status not in (HTTPStatus.OK, HTTPStatus.ACCEPTED):
            raise RuntimeError(f"POST {PATH} answered {response.status}: {answer}")
        submissions.ids.add(answer["id"])
        submissions.deduplicated += answer["deduplicated"]
    connection.close()
    return submissions


def submit_batch(customer: Customer, tenant: Tenant) -> Submissions:
    """Submit every light report from models again and again, like a nightly run over all of them."""
    reports = _reports(tenant)
    light = [sample for sample in customer.samples if not sample.heavy]
    share, more = divmod(BATCH * customer.slots, len(light))
    submissions = Submissions()
    for place, sample in enumerate(light):
        calls = itertools.islice(itertools.cycle(_ways(sample)), share + (place < more))
        execute = reports[sample.name].async_(dedup=False).execute
        submissions.ids.update(execute.many({"parameters": parameters} for parameters in calls))
    return submissions


def _presses(customer: Customer, chance: random.Random) -> Iterator[tuple[Sample, Arguments]]:
    heavy = [sample for sample in customer.samples if sample.heavy]
    light = [sample for sample in customer.samples if not sample.heavy]
    for _ in range(PRESSES * customer.slots):
        sample = chance.choice(heavy if chance.random() < HEAVY_SHARE else light)
        yield sample, chance.choice(list(_ways(sample)))
    # One press has an unknown parameter: that job fails, and its error names the parameter.
    yield light[0], {"region": "EU"}


def _ways(sample: Sample) -> Iterator[Arguments]:
    """Yield every choice of parameters that the report's form offers."""
    names = [declared["name"] for declared in sample.parameters]
    offered = [declared.get("choices", [declared["default"]]) for declared in sample.parameters]
    for values in itertools.product(*offered):
        yield dict(zip(names, values, strict=True))


def _reports(tenant: Tenant) -> dict[str, DataReport]:
    return {report.name: report for report in DataReport.objects.filter(tenant=tenant)}
