from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations

from tenants.names import named


class Migration(migrations.Migration):
    dependencies = [(named('jobs'), '0002_since_0_1_0')]
    replaces = [(named('jobs'), '0014_validate_one_check')]

    operations = [ValidateConstraint('job', 'jobs_whole')]
