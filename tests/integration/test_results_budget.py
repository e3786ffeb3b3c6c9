"""What one tenant's jobs return and tell is bounded, so that it never fills what all share."""

import pytest
from django.core.cache import cache

from jobs.calls.arguments import stats_as_json
from jobs.calls.refusals import InvalidRequest
from jobs.store import results
from tests.factories import make_job

pytestmark = pytest.mark.django_db
BIG = "x" * results.MIN_COUNTED_BYTES


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()


def keep(tenant, value=BIG):
    job = make_job(tenant)
    return results.keep(job, results.as_text(value), 1e6) is not None


def test_large_results_above_the_tenants_budget_are_not_kept_and_others_are(tenant, stranger, settings, caplog):
    settings.JOBS_RESULTS_MAX_BYTES = 3 * len(BIG)
    assert [keep(tenant) for _ in range(4)] == [True, True, False, False]
    assert f"tenant={tenant.pk}" in caplog.text
    assert keep(tenant, "small"), "is not counted"
    other = type(tenant).objects.exclude(pk=tenant.pk).get()
    assert keep(other)


def test_stats_above_the_limit_are_refused_with_both_numbers(settings):
    settings.JOBS_STATS_MAX_BYTES = 100
    assert stats_as_json({"a": "x" * 80}) == {"a": "x" * 80}
    with pytest.raises(InvalidRequest, match=r"^stats: take 109 bytes as JSON; JOBS_STATS_MAX_BYTES allows 100$"):
        stats_as_json({"a": "x" * 100})
