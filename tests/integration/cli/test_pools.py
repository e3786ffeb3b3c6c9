"""Pools by command: shown with their workers, made light and ordinary again, and what is refused."""

import json

import pytest

from jobs.models import Pool, Worker
from tenants.models import Change
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.integration.cli.running import refusal, run

pytestmark = pytest.mark.django_db(transaction=True)


def shown(*words: object) -> dict:
    [pool] = json.loads(run("queues", "pool", *words, "--json"))["pools"]
    return pool


def stored(name: str) -> tuple[str, int]:
    return Pool.objects.values_list("kind", "seats").get(pk=name)


def test_a_pool_is_made_light_and_ordinary_again_and_each_change_is_noted() -> None:
    QueueFactory(name="mail", pool="mail")
    light = shown("mail", "--kind", "light", "--seats", 200)
    assert (light["kind"], light["seats"], light["queues"]) == ("light", 200, ["mail"])
    assert stored("mail") == ("light", 200)
    run("queues", "pool", "mail", "--seats", 300)
    assert stored("mail") == ("light", 300)
    assert shown("mail", "--kind", "ordinary")["seats"] == 1
    assert stored("mail") == ("ordinary", 1)
    added, changed, back = Change.objects.filter(subject="mail").order_by("id")
    assert (added.verb, added.kind, added.tenant_id) == ("added", "jobs.pool", None)
    assert (changed.verb, changed.values) == ("changed", {"seats": [200, 300]})
    assert back.values == {"kind": ["light", "ordinary"], "seats": [300, 1]}
    assert back.who.endswith("at the command line")


def test_a_pool_is_shown_with_its_live_workers_and_the_seats_in_use(register) -> None:
    QueueFactory(name="mail", pool="mail")
    QueueFactory(name="slow", pool="slow")
    Pool.objects.create(name="mail", kind="light", seats=200)
    register(pool="mail", concurrency=400, seats=200, kind="light")
    register(pool="mail", concurrency=200, seats=200, kind="light")
    register(pool="slow", concurrency=7)
    for _ in range(3):
        make_job(TenantFactory(), "running", queue=QueueFactory(name="mail"))
    pool = shown("mail")
    assert (pool["workers"], pool["processes"], pool["capacity"], pool["in_use"]) == (2, 3, 600, 3)
    assert pool["outdated_workers"] == []
    slow = shown("slow")
    assert (slow["kind"], slow["seats"], slow["processes"], slow["capacity"], slow["in_use"]) == (
        "ordinary",
        1,
        7,
        7,
        0,
    )
    every = json.loads(run("queues", "pool", "--json"))["pools"]
    assert [pool["name"] for pool in every] == ["default", "mail", "slow"]
    _, mail = run("queues", "pool", "mail").splitlines()
    assert mail.split() == ["mail", "light", "200", "2", "3", "600", "3"]


def test_a_change_names_the_workers_that_must_be_restarted(register) -> None:
    QueueFactory(name="mail", pool="mail")
    worker, other = register(pool="mail", concurrency=4), register(pool="other")
    told = run("queues", "pool", "mail", "--kind", "light", "--seats", 200)
    assert "Restart the workers of pool mail, which read this when they start: " in told
    assert shown("mail")["outdated_workers"] == [f"test@{worker}"]
    assert str(other) not in told


def test_a_light_pool_gets_threads_and_loses_them_with_its_kind(register) -> None:
    run("queues", "set", "reports", "--pool", "slow")
    register(pool="slow", concurrency=50, seats=50, kind="light")
    refused = run("queues", "pool", "slow", "--kind", "light", "--seats", 50)
    assert "type: manage.py queues pool slow --threads" in refused
    told = run("queues", "pool", "slow", "--threads")
    assert "light, threads" in told
    assert "Restart the workers of pool slow" in told
    assert "refused" not in told
    assert "refused" not in run("queues", "set", "reports", "--pool", "slow")
    assert shown("slow")["threads"] is True
    Worker.objects.update(threads=True)
    assert shown("slow")["outdated_workers"] == []
    assert shown("slow", "--no-threads")["threads"] is False
    run("queues", "pool", "slow", "--threads")
    assert shown("slow", "--kind", "ordinary")["threads"] is False
    assert refusal("queues", "pool", "slow", "--threads") == (
        "threads: An ordinary pool runs each body in a process. Leave it off, or choose light"
    )


def test_a_light_pool_without_seats_is_refused_by_that_field_and_nothing_is_stored() -> None:
    why = refusal("queues", "pool", "mail", "--kind", "light")
    assert why == "seats: Say how many attempts each process of a light pool runs at once: from 1 to 1,000, such as 200"
    assert refusal("queues", "pool", "mail", "--seats", 5).startswith("seats: A process of an ordinary pool has 1 seat")
    assert refusal("queues", "pool", "a b", "--kind", "light", "--seats", 5).startswith("name: ")
    assert not Pool.objects.exists()


def test_more_seats_than_a_process_may_have_are_refused() -> None:
    assert "from 1 to 1,000, not '1001'" in refusal("queues", "pool", "mail", "--kind", "light", "--seats", 1001)


def test_an_unknown_pool_is_refused_with_those_there_are() -> None:
    QueueFactory(name="mail", pool="mail")
    assert refusal("queues", "pool", "mial") == "pool: 'mial' is unknown; known: default, mail"
    assert refusal("queues", "pool", "--kind", "light") == "pool: name the pool to change"


def test_a_pool_without_a_queue_says_how_to_move_one() -> None:
    assert "manage.py queues set QUEUE --pool mail" in run("queues", "pool", "mail", "--kind", "light", "--seats", 5)


def test_a_queue_that_moves_into_a_light_pool_names_its_job_types_that_do_not_fit() -> None:
    Pool.objects.create(name="mail", kind="light", seats=200)
    QueueFactory(name="reports", pool="default")
    told = run("queues", "set", "reports", "--pool", "mail")
    assert "reports.datareport.execute" in told
    assert "make them `async def`, or give them a queue of an ordinary pool" in told
    assert "light" not in run("queues", "set", "reports", "--pool", "default")
    assert "light" not in run("queues", "set", "reports", "--weight", 2)
    run("queues", "set", "reports", "--pool", "later")
    assert "reports.datareport.execute" in run("queues", "pool", "later", "--kind", "light", "--seats", 5)
