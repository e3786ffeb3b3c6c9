"""The settings of this app, with their defaults.

JOBS_TENANT_MODEL: the model of tenants, "app.Model"; `checks.py` checks what it must have.
JOBS_TENANT_MIRROR: a model of the project's own; each of its rows gets a tenant: `mirror.py`.
JOBS_TENANT_NAME: the field of the tenant model, or of the mirrored model, with a name for people.
JOBS_TENANT_SLUG: the field of that model with a unique name for commands and addresses.
JOBS_PREFIX: the prefix of the names of the apps and tables: `names.py`.
JOBS_MEMBERSHIP: the path of a function that takes a request and returns the tenant of its user: `members.py`.
LOGIN_FAILURES: wrong passwords in a row before logins are slowed down.
"""

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model

from plumbing.names import named

# The default is written into the project's settings: migrations that refer to a swappable model read it there.
if not hasattr(settings, "JOBS_TENANT_MODEL"):
    settings.JOBS_TENANT_MODEL = named("tenants.Tenant")

TENANT_MODEL: str = settings.JOBS_TENANT_MODEL  # type: ignore[misc]  # set above
MIRRORED: str = getattr(settings, "JOBS_TENANT_MIRROR", "")
HOST_NAME: str = getattr(settings, "JOBS_TENANT_NAME", "name")
HOST_SLUG: str = getattr(settings, "JOBS_TENANT_SLUG", "slug")
TENANT_NAME, TENANT_SLUG = ("name", "slug") if MIRRORED else (HOST_NAME, HOST_SLUG)  # of the tenant model


def model_named(setting: str, name: str) -> type[Model]:
    """Return the model that a setting names. Raises ImproperlyConfigured, as Django does for AUTH_USER_MODEL."""
    try:
        return apps.get_model(name)
    except (LookupError, ValueError) as error:
        remedy = 'Set it to "app.Model", the name of an installed model; or unset it.'
        raise ImproperlyConfigured(f"{setting} is {name!r}: there is no such model. {remedy}") from error


def membership() -> str:
    """Return the setting JOBS_MEMBERSHIP; "" unless the project has memberships of its own."""
    return getattr(settings, "JOBS_MEMBERSHIP", "")


def login_failures() -> int:
    return getattr(settings, "LOGIN_FAILURES", 10)
