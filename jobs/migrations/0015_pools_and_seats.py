"""The kind and the seats of a pool have a home, and a worker tells the seats of its processes."""

from django.db import migrations, models

from plumbing.names import named
from tenants.migrations._operations import WAIT_BRIEFLY


class Migration(migrations.Migration):

    dependencies = [(named('jobs'), '0014_debts_in_tokens')]

    operations = [
        WAIT_BRIEFLY,
        # A worker of the release before tells no seats: it has one in each process.
        migrations.AddField('worker', 'seats', models.PositiveSmallIntegerField(db_default=1)),
        migrations.CreateModel(
            name='Pool',
            fields=[
                ('name', models.SlugField(primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('ordinary', 'Ordinary')], db_default='ordinary', max_length=20)),
                ('seats', models.PositiveSmallIntegerField(db_default=1)),
            ],
            options={
                'db_table': named('pools'),
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('kind', 'ordinary'), ('seats', 1)), name='pools_are_ordinary')
                ],
            },
        ),
    ]
