"""In such a project: a hundred jobs of ten tenants, the pages of operators and members, and the API."""

from time import monotonic, sleep

from django.contrib.auth import get_user_model
from django.test import Client
from letters import letters

from jobs import results
from jobs.models import Job
from tenants.auth import issue
from tenants.mirror import tenant_of
from tenants.models import Member

expected = {}
for row, letter, answer in letters():
    expected |= {letter.async_.send(number=number): (tenant_of(row), f"{answer}: {number}") for number in range(10)}
assert len(expected) == 100, len(expected)
give_up = monotonic() + 120
while Job.objects.exclude(status="success").exists():
    assert monotonic() < give_up, list(Job.objects.exclude(status="success").values("id", "status", "error")[:3])
    sleep(0.1)
for job in Job.objects.all():
    assert (job.tenant, results.load(job).value) == expected[job.pk]

users = get_user_model().objects
client = Client(headers={"host": "localhost"})
client.force_login(users.create_superuser("olga", "olga@example.com", "x"))
for address in (
    "/ops/",
    "/ops/tenants/",
    "/ops/jobs/",
    "/ops/jobs/1/",
    "/ops/queues/",
    "/ops/workers/",
    "/ops/health/",
):
    assert client.get(address).status_code == 200, address
assert client.get("/admin/").status_code == 200

own, (owner, _) = next(iter(expected.items()))
foreign = next(pk for pk, (tenant, _) in expected.items() if tenant != owner)
Member.objects.create(user=users.create_user("mia"), tenant=owner)
client.force_login(users.get(username="mia"))
assert [client.get(f"/jobs/{pk}/").status_code for pk in (own, foreign)] == [200, 404]
key = {"headers": {"host": "localhost", "authorization": f"Bearer {issue(owner, 'x')[1]}"}}
assert [Client().get(f"/api/v1/jobs/{pk}", **key).status_code for pk in (own, foreign)] == [200, 404]
