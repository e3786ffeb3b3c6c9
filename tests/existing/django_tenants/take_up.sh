# What docs/own-project.md leaves to this project.
cat >> mysite/settings.py <<END
SHARED_APPS += ["django.contrib.postgres", "tenants", "jobs"]
JOBS_TENANT_MIRROR = "customers.Client"
JOBS_TENANT_SLUG = "schema_name"
JOBS_AROUND = "mysite.scope.in_schema"
CELERY_BROKER_URL = "postgresql://"
END
sed -i 's/^class Letter(models.Model):/class Letter(Asynchronous, models.Model):\n    jobs_tenant = "client"/' billing/models.py
.venv/bin/python manage.py migrate_schemas --shared
