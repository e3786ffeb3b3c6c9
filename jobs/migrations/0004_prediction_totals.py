"""How many predictions were made since the first, by what they said: a count that does not fall when old ones go."""

from django.db import migrations, models

from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [(named('jobs'), '0003_beside_running_jobs')]

    operations = [
        migrations.CreateModel(
            name='PredictionTotal',
            fields=[
                ('reason', models.CharField(max_length=20, primary_key=True, serialize=False)),
                ('predictions', models.BigIntegerField()),
            ],
            options={'db_table': named('prediction_totals')},
        ),
    ]
