"""What a running job reads of the jobs that it waited for."""

from typing import Any

from jobs.authoring.memory import MISSING
from jobs.lifecycle import Status
from jobs.models import AnyJob, Job
from jobs.store import results


def results_of(job_id: int) -> dict[int, Any]:
    """The results of its predecessors, by id; MISSING for one that is gone."""
    ids = Job.objects.filter(pk=job_id).values_list("predecessors", flat=True).first() or []
    rows = AnyJob.objects.filter(pk__in=ids, status=Status.SUCCESS).in_bulk()
    kept = {one: results.load(rows[one]) if one in rows else None for one in ids}
    return {one: MISSING if result is None else result.value for one, result in kept.items()}
