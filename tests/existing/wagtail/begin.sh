# The project as its owners have it: Wagtail's own, on PostgreSQL.
.venv/bin/pip install "wagtail>=7.0,<9" psycopg2-binary pytest-django
.venv/bin/wagtail start mysite .
cat >> mysite/settings/base.py <<END
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "$NAME"}}
INSTALLED_APPS += ["billing"]
END
.venv/bin/python manage.py makemigrations billing
.venv/bin/python manage.py migrate
.venv/bin/python manage.py shell -c "
from billing.models import Letter
from wagtail.models import Page, Site
root = Page.objects.get(depth=1)
Letter.objects.create(site=Site.objects.get())
for n in range(1, 10):
    Letter.objects.create(site=Site.objects.create(hostname=f'{n}.example.com', site_name=f'Site {n}', root_page=root))
"
