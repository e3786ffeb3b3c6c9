"""The settings of this app, with their defaults.

JOBS_TENANT_MODEL: the model of tenants, "app.Model"; what it must have: `checks.py`.
LOGIN_FAILURES: wrong passwords in a row before logins are slowed down.
"""

from django.conf import settings

# With defaults in the project's settings themselves: migrations that refer to a swappable model read them there.
for name, default in {"JOBS_TENANT_MODEL": "tenants.Tenant", "LOGIN_FAILURES": 10}.items():
    if not hasattr(settings, name):
        setattr(settings, name, default)

TENANT_MODEL: str = settings.JOBS_TENANT_MODEL  # type: ignore[misc]  # set above
