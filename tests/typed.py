"""What a type checker finds in calls of jobs: `make lint` fails where a mistake below is none to mypy. Never run."""

from django.db import models

from jobs import Asynchronous, asubmit_many, async_, current_job, job, submit_many


@job
def send(*, to: str, copies: int = 1) -> None:
    current_job().progress(0.5)


class Order(Asynchronous, models.Model):
    class Meta:
        app_label = "typed"

    @job(queue="mail")
    def invoice(self, *, copies: int) -> str:
        return "" * copies

    @classmethod
    @job
    def count_all(cls, *, since: str = "") -> int:
        return len(since)


def right(order: Order) -> list[int]:
    one: int = async_(send)(to="a@example.com", copies=2)
    many = async_(order.invoice).many([{"copies": 1}])
    together = submit_many([async_(order.invoice, priority=0, user="ines").request(copies=2)])
    of_class = async_(Order.count_all, tenant=order)(since="2030")
    return [one, *many, *together, of_class, order.async_(delay=90).invoice(copies=1)]


async def right_too(order: Order) -> list[int]:
    return [await async_(order.invoice).asubmit(copies=2), *await asubmit_many([async_(send).request(to="b")])]


def wrong(order: Order) -> None:
    async_(send)(to=3)  # type: ignore[arg-type]
    async_(send)()  # type: ignore[call-arg]
    async_(send, prioritty=1)(to="a@example.com")  # type: ignore[call-arg]
    async_(send, tenant="acme")(to="a@example.com")  # type: ignore[arg-type]
    order.invoice(copies="two")  # type: ignore[arg-type]
    async_(order.invoice).request(copies="two")  # type: ignore[arg-type]
    async_(Order.count_all)(since=3)  # type: ignore[arg-type]
    async_(order.invoice)(copies="two")  # type: ignore[arg-type]
    async_(order.invoice)(kopies=2)  # type: ignore[call-arg]
    async_(order.nosuch)()  # type: ignore[attr-defined]
    async_(order.invoice, prioritty=1)(copies=2)  # type: ignore[call-arg]
    order.async_(prioritty=1).invoice(copies=2)  # type: ignore[call-arg]
    order.async_(priority="high").invoice(copies=2)  # type: ignore[arg-type]
    current_job().progres(0.5)  # type: ignore[attr-defined]


def untold(order: Order) -> None:
    """Mistakes that only a run tells: of a name behind `async_.` nothing is known, nor what is a job, nor who owns it.

    The type of a method cannot say that it is a job: `@job` would have to return another kind of object, of which a
    type checker does not make a method of an object or of a class.
    """
    order.async_.invoice(copies="two")
    order.async_.invoice(kopies=2)
    order.async_.nosuch()
    order.async_.save()
    async_(send)(to="a@example.com")  # without a tenant
    async_(len)([1])


async def wrong_too(order: Order) -> int:
    return await async_(order.invoice).asubmit(copies="two")  # type: ignore[arg-type]
