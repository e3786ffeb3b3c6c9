"""The settings of this app, with their defaults.

JOBS_TENANT_MODEL: the model of tenants, "app.Model"; what it must have: `checks.py`.
JOBS_PREFIX: before the names of the apps and tables: `names.py`.
LOGIN_FAILURES: wrong passwords in a row before logins are slowed down.
"""

from django.conf import settings

from tenants.names import named

# Its default is in the project's settings themselves: migrations that refer to a swappable model read it there.
if not hasattr(settings, "JOBS_TENANT_MODEL"):
    settings.JOBS_TENANT_MODEL = named("tenants.Tenant")

TENANT_MODEL: str = settings.JOBS_TENANT_MODEL  # type: ignore[misc]  # set above


def login_failures() -> int:
    return getattr(settings, "LOGIN_FAILURES", 10)
