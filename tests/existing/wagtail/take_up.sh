# What docs/own-project.md leaves to this project.
cat >> mysite/settings/base.py <<END
JOBS_TENANT_MIRROR = "wagtailcore.Site"
JOBS_TENANT_NAME = "hostname"
JOBS_TENANT_SLUG = "pk"
CELERY_BROKER_URL = "postgresql://"
END
sed -i 's/^class Letter(models.Model):/class Letter(Asynchronous, models.Model):\n    jobs_tenant = "site"/' billing/models.py
.venv/bin/python manage.py migrate
