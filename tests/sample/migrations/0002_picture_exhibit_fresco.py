

import datetime
import django.db.models.deletion
import uuid
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sample', '0001_initial'),
        migrations.swappable_dependency(settings.JOBS_TENANT_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Picture',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ('title', models.CharField(db_column='the title', default='100 % blue', max_length=20)),
                ('tags', models.JSONField(default=list)),
                ('price', models.DecimalField(decimal_places=2, default=Decimal('9.90'), max_digits=8)),
                ('painted', models.DateTimeField(default=datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc))),
                ('width', models.DurationField(default=datetime.timedelta(days=2))),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.JOBS_TENANT_MODEL)),
            ],
            options={
                'ordering': ('-painted',),
            },
        ),
        migrations.CreateModel(
            name='Exhibit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.JOBS_TENANT_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Fresco',
            fields=[
                ('picture_ptr', models.OneToOneField(auto_created=True, on_delete=django.db.models.deletion.CASCADE, parent_link=True, primary_key=True, serialize=False, to='sample.picture')),
                ('wall', models.CharField(default='north', max_length=20)),
            ],
            bases=('sample.picture',),
        ),
    ]
