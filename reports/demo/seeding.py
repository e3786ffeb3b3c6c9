"""Create the demo's customers, logins, keys, data and reports, unless they exist."""

from dataclasses import dataclass, field

from django.contrib.auth import get_user_model

from reports.demo.catalogue import CUSTOMERS, Customer
from reports.demo.customer_database import provide
from reports.models import DataReport, DataSource
from tenants.auth import issue
from tenants.models import Member, Tenant, TenantQueue

PASSWORD = "demo-only"  # noqa: S105 - of every login of the demo; never in production (see seed_demo)
KEY_NAME = "demo"


@dataclass
class Seeded:
    """The facts to show afterwards; `tokens` has the new API keys."""

    logins: dict[str, str] = field(default_factory=dict)  # user name -> what it may see
    tokens: dict[str, str] = field(default_factory=dict)  # tenant's name -> token


def seed() -> Seeded:
    """Seed every customer and an administrator. Safe to repeat."""
    seeded = Seeded()
    for customer in CUSTOMERS:
        tenant = provided(customer)
        _login(customer.username, tenant)
        seeded.logins[customer.username] = f"{tenant.name} ({customer.slots} at a time)"
        if not tenant.jobs_api_keys.filter(name=KEY_NAME).exists():
            _, seeded.tokens[tenant.name] = issue(tenant, KEY_NAME)
    _login("admin", None)
    seeded.logins["admin"] = "the admin site"
    return seeded


def provided(customer: Customer) -> Tenant:
    """Return the customer's tenant, with its data and its reports. Safe to repeat."""
    tenant = _tenant(customer)
    _reports(tenant, _source(tenant, customer), customer)
    return tenant


def _tenant(customer: Customer) -> Tenant:
    tenant, _ = Tenant.objects.get_or_create(slug=customer.slug, defaults={"name": customer.name})
    TenantQueue.objects.get_or_create(tenant=tenant, defaults={"num_slots": customer.slots})
    return tenant


def _source(tenant: Tenant, customer: Customer) -> DataSource:
    source = DataSource.objects.filter(tenant=tenant, name=customer.source).first()
    url = provide(tenant.pk, customer.datasets, known_url=source.url if source else "")
    # Write it again: the server's address may have changed.
    source, _ = DataSource.objects.update_or_create(tenant=tenant, name=customer.source, defaults={"url": url})
    return source


def _reports(tenant: Tenant, source: DataSource, customer: Customer) -> None:
    for sample in customer.samples:
        content = {
            "source": source,
            "question": sample.question,
            "sql": sample.sql,
            "parameters": sample.parameters,
        }
        DataReport.objects.get_or_create(tenant=tenant, name=sample.name, defaults=content)


def _login(username: str, tenant: Tenant | None) -> None:
    users = get_user_model().objects
    user = users.filter(username=username).first()
    if user is None and tenant is None:
        users.create_superuser(username, password=PASSWORD)
    elif tenant is not None:
        user = user or users.create_user(username, password=PASSWORD)
        Member.objects.get_or_create(user=user, defaults={"tenant": tenant})
