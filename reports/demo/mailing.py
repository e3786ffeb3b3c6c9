"""Let ten tenants mail their reports: a queue in a light pool, and jobs that only wait for the mail server."""

from jobs import queries, submit_many
from jobs.models import Pool, Queue
from reports.demo.catalogue import CUSTOMERS, SUBSCRIBERS
from reports.demo.seeding import provided
from reports.models import DataReport
from tenants.models import Tenant

POOL = QUEUE = "mail"
SEATS = 200  # of each process
READERS = 20  # of each tenant


def seed_mails() -> int:
    """Create the queue, its pool and the tenants, unless they exist; return the number of the submitted mails.

    A tenant whose report was mailed before gets no more.
    """
    Pool.objects.get_or_create(name=POOL, defaults={"kind": Pool.Kind.LIGHT, "seats": SEATS})
    Queue.objects.get_or_create(name=QUEUE, defaults={"pool": POOL})
    for subscriber in SUBSCRIBERS:
        provided(subscriber)
    slugs = [customer.slug for customer in (*CUSTOMERS, *SUBSCRIBERS)]
    return sum(_mail(tenant) for tenant in Tenant.objects.filter(slug__in=slugs).order_by("pk"))


def _mail(tenant: Tenant) -> int:
    """Run one report of the tenant, and mail it to each reader when it has ended; return the number of mails."""
    report = DataReport.objects.filter(tenant=tenant).order_by("pk").first()
    if report is None or queries.jobs(tenant.pk).filter(source_method="mail").exists():
        return 0
    run = report.async_.execute()
    readers = (f"reader{number}@{tenant.slug}.example" for number in range(READERS))
    return len(submit_many(report.async_(after_end=run).mail.request(to=reader) for reader in readers))
