"""In such a project, with a worker: jobs of three teams, and what the project had before."""

from time import monotonic, sleep

import django

django.setup()

from acme.teams.models import Digest, Team  # noqa: E402
from acme.teams.tasks import count_teams  # noqa: E402
from acme.users.models import User  # noqa: E402
from django.test import Client  # noqa: E402
from django_celery_beat.models import CrontabSchedule, PeriodicTask  # noqa: E402

from jobs import results  # noqa: E402
from jobs.models import Job  # noqa: E402
from tenants.auth import issue  # noqa: E402
from tenants.mirror import tenant_of  # noqa: E402

teams = [Team.objects.create(name=name) for name in ("Alba", "Bora", "Cima")]
digests = [Digest.objects.create(team=team) for team in teams]
expected = {
    digest.async_.send(number=n): (digest.team, f"{digest.team.name}: {n}") for n in range(10) for digest in digests
}
give_up = monotonic() + 120
while Job.objects.exclude(status="success").exists():
    assert monotonic() < give_up, list(Job.objects.exclude(status="success").values("id", "status", "last_error")[:3])
    sleep(0.1)
results_of_jobs = {job.pk: (job.tenant, results.load(job).value) for job in Job.objects.all()}
assert results_of_jobs == {pk: (tenant_of(team), text) for pk, (team, text) in expected.items()}, results_of_jobs

(own_job, (owner, _)), (_, (stranger, _)), *_ = expected.items()
for team, status in ((owner, 200), (stranger, 404)):
    key = {"host": "localhost", "authorization": f"Bearer {issue(tenant_of(team), 'walk')[1]}"}
    assert Client(headers=key).get(f"/jobs-api/v1/jobs/{own_job}").status_code == status
client = Client(headers={"host": "localhost"})
client.force_login(User.objects.create_superuser("olga@example.com"))
for address in ("/ops/", "/ops/jobs/", "/admin/", "/api/users/", "/api/docs", "/jobs-api/v1/docs"):
    assert client.get(address).status_code == 200, address
assert count_teams.delay().get() == 3, "eager, as the project has it"
nightly = CrontabSchedule.objects.create(minute="0", hour="6")
PeriodicTask.objects.create(name="count", task=count_teams.name, crontab=nightly)
