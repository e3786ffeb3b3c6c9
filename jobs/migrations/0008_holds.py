"""A job holds its lane or its queue until a moment."""

from django.db import migrations, models

from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0007_stacks'),
    ]

    operations = [
        migrations.CreateModel(
            name='Hold',
            fields=[
                ('pk', models.CompositePrimaryKey('queue_id', 'tenant_id', 'job_id', 'attempt', blank=True, editable=False, primary_key=True, serialize=False)),
                ('queue_id', models.BigIntegerField()),
                ('tenant_id', models.BigIntegerField()),
                ('job_id', models.BigIntegerField()),
                ('attempt', models.IntegerField()),
                ('owner_id', models.BigIntegerField()),
                ('held_at', models.DateTimeField()),
                ('until', models.DateTimeField()),
                ('why', models.CharField(max_length=200)),
            ],
            options={
                'db_table': named('holds'),
                'indexes': [models.Index(fields=['until'], name='holds_until')],
            },
        ),
        migrations.AddField(
            model_name='freedslot',
            name='holds',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='queueturn',
            name='opened_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name='lane',
            name='state',
            field=models.CharField(choices=[('ready', 'Ready'), ('empty', 'Empty'), ('closed', 'Closed'), ('full', 'Full'), ('held', 'Held')], max_length=6),
        ),
    ]
