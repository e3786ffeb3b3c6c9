from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations

from tenants.names import named


class Migration(migrations.Migration):
    dependencies = [(named('jobs'), '0013_one_check')]

    operations = [ValidateConstraint('job', 'jobs_whole')]
