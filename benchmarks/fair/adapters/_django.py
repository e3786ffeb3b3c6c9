"""Django's settings, for the queues that are backends of its tasks."""

import django
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict


def configure(dsn: str, app: str, tasks: dict) -> None:
    """Set Django up with this app and these settings of its tasks. A connection lasts, as for any worker of Django."""
    address = conninfo_to_dict(dsn)
    settings.configure(
        INSTALLED_APPS=[app],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": address["dbname"],
                "USER": address.get("user", ""),
                "PASSWORD": address.get("password", ""),
                "HOST": address.get("host", ""),
                "PORT": address.get("port", ""),
                "CONN_MAX_AGE": 600,
            }
        },
        TASKS={"default": tasks},
        USE_TZ=True,
        LOGGING_CONFIG=None,
    )
    django.setup()
