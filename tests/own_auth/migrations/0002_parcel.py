import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import jobs


class Migration(migrations.Migration):
    dependencies = [("auth", "0001_initial"), migrations.swappable_dependency(settings.JOBS_TENANT_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Parcel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.JOBS_TENANT_MODEL)),
            ],
            bases=(jobs.Asynchronous, models.Model),
        ),
    ]
