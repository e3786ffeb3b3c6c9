# The project as its owners have it: a schema for each client.
.venv/bin/pip install "django-tenants>=3.10,<5" psycopg2-binary pytest-django
.venv/bin/django-admin startproject mysite .
cat >> mysite/settings.py <<END
SHARED_APPS = ["django_tenants", "customers", *INSTALLED_APPS]
TENANT_APPS = ["billing"]
INSTALLED_APPS = [*SHARED_APPS, *TENANT_APPS]
MIDDLEWARE = ["django_tenants.middleware.main.TenantMainMiddleware", *MIDDLEWARE]
DATABASES = {"default": {"ENGINE": "django_tenants.postgresql_backend", "NAME": "$NAME"}}
DATABASE_ROUTERS = ["django_tenants.routers.TenantSyncRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
TENANT_MODEL = "customers.Client"
TENANT_DOMAIN_MODEL = "customers.Domain"
END
.venv/bin/python manage.py makemigrations customers billing
.venv/bin/python manage.py migrate_schemas --shared
.venv/bin/python manage.py shell -c "
from billing.models import Letter
from customers.models import Client, Domain
from django_tenants.utils import schema_context
public = Client.objects.create(schema_name='public', name='everybody')
Domain.objects.create(domain='localhost', tenant=public)
for n in range(10):
    client = Client.objects.create(schema_name=f'client_{n}', name=f'Client {n}')
    with schema_context(client.schema_name):
        Letter.objects.create(client=client)
"
