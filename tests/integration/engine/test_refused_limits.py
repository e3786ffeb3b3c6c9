"""The values that no limit may have, in one table: the verb refuses each by the name of its field and stores nothing.

The interfaces pass its refusal on: each has a case of its own that shows it, beside those of what only they refuse,
such as a character that PostgreSQL cannot hold.
"""

from math import inf

import pytest
from django.core.exceptions import ValidationError

from jobs.console.operations.limits import OF_QUEUE, OF_TENANT
from jobs.engine.verbs import limits
from tests.factories import QueueFactory, TenantFactory

pytestmark = pytest.mark.django_db
COLUMN = 2**31  # one more than an integer column holds

RATE = {
    "rate_limit": ({"rate_window": 5}, {"rate_limit": 0, "rate_window": 5}, {"rate_limit": COLUMN, "rate_window": 5}),
    "rate_window": (
        {"rate_limit": 5},
        *({"rate_limit": 5, "rate_window": window} for window in (0, -1, inf)),
    ),
}


def each(name: str, *values: object) -> dict[str, tuple[dict[str, object], ...]]:
    return {name: tuple({name: value} for value in values)}


REFUSED_OF_TENANT = {
    **each("num_slots", -1, 10_001, None, "two", ""),
    **each("burst_slots", -1, 10_001, "two"),
    **each("user_slots", -1, COLUMN, "two"),
    **each("queue_slots", 3, "mail=x", *({"mail": slots} for slots in (0, 10_001, "2", True)), {"": 2}, {"nowhere": 2}),
    **each("budgets", 3, "tokens=x", *({"tokens": n} for n in (0, 1.5, "2", True, 10**16)), {"Bad": 2}, {"nowhere": 2}),
    **each("weight", 0, -1, COLUMN, None, "x", ""),
    **each("max_waiting", -1, COLUMN, "two"),
    **each("history_days", 0, "two"),
    **each("queues", ["mail", ""], ["x" * 1000]),
    **each("paused", None, "maybe"),
    **RATE,
}
REFUSED_OF_QUEUE = {
    **each("weight", 0, -1, COLUMN, None, "x", ""),
    **each("pool", "no spaces", "", "a\x00", "x" * 51, None),
    **each("concurrency", -1, COLUMN, "two"),
    **each("tenant_slots", 0, -1, 10_001, "two"),
    **each("wait_target", 0, -1, 1e12, inf, "soon"),
    **each("default_timeout", 0, -1, 1e12, inf),
    **each("default_max_retries", -1, 40_000),
    **each("default_backoff", -1, None, inf),
    **each("backoff_grows", None),
    **each("paused", None, "maybe"),
    **RATE,
}


def slots():
    queue()
    return TenantFactory(queue__num_slots=3).jobs_queue


def queue():
    return QueueFactory(name="mail", weight=2)


KINDS = pytest.mark.parametrize(
    ("made", "table", "refused"),
    [(slots, OF_TENANT, REFUSED_OF_TENANT), (queue, OF_QUEUE, REFUSED_OF_QUEUE)],
    ids=["tenant", "queue"],
)


@KINDS
def test_a_value_that_does_not_fit_is_refused_by_the_name_of_its_field(made, table, refused, subtests):
    row = made()
    model = type(row)
    before = model.objects.values().get(pk=row.pk)
    for field, changes in refused.items():
        for change in changes:
            with subtests.test(str(change)[:40]):
                with pytest.raises(ValidationError) as error:
                    limits.change(model.objects.get(pk=row.pk), change)
                assert list(error.value.message_dict) == [field]
                assert model.objects.values().get(pk=row.pk) == before


@KINDS
def test_each_limit_has_a_refused_value(made, table, refused):
    assert set(refused) == {limit.name for limit in table}


@KINDS
def test_half_a_rate_limit_is_not_left_over(made, table, refused):
    row = made()
    limits.change(row, {"rate_limit": 5, "rate_window": 60})
    for left_out in ("rate_limit", "rate_window"):
        with pytest.raises(ValidationError) as error:
            limits.change(type(row).objects.get(pk=row.pk), {left_out: None})
        assert list(error.value.message_dict) == [left_out]
    limits.change(row, {"rate_limit": None, "rate_window": None})
    assert type(row).objects.get(pk=row.pk).rate_limit is None
