from django.db import migrations


class Migration(migrations.Migration):
    """A report and its data source belong to the same tenant, whatever any code does."""

    dependencies = [("reports", "0001_initial")]

    operations = [
        migrations.RunSQL(
            """
            ALTER TABLE data_reports ADD CONSTRAINT data_reports_source_of_same_tenant
                FOREIGN KEY (tenant_id, source_id) REFERENCES data_sources (tenant_id, id)
            """,
            "ALTER TABLE data_reports DROP CONSTRAINT data_reports_source_of_same_tenant",
        )
    ]
