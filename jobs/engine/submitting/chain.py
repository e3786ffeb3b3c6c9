"""Chains: jobs that run one after the other, and groups of them that run side by side."""

from django.db import transaction

from jobs.calls.request import JobRequest, requests_of
from jobs.engine.submitting.submit import submit_all


class ChainGroup(tuple[JobRequest, ...]):
    """Requests that make one step of a chain."""


def group(*requests: JobRequest) -> ChainGroup:
    """Return one step of a chain: these jobs run side by side, and the next step waits for all of them."""
    return ChainGroup(requests_of(requests))


def chain(*steps: JobRequest | ChainGroup) -> list[int]:
    """Submit steps of jobs; each starts when all jobs of the step before have succeeded. Return the ids in order.

    If a job ends without success, the jobs after it are cancelled. Raises InvalidRequest; then nothing is submitted.
    """
    ids: list[int] = []
    before: list[int] = []
    with transaction.atomic():
        for step in steps:
            requests = step if isinstance(step, ChainGroup) else group(step)
            if not requests:
                continue
            before = [
                submitted.id
                for submitted in submit_all([request.behind(before) if before else request for request in requests])
            ]
            ids += before
    return ids
