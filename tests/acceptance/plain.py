"""The settings of the tests with Django's own way to the database: nothing in OPTIONS but its address."""

import environ

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, env

DATABASES["default"]["OPTIONS"] = environ.Env.db_url_config(env.str("DATABASE_URL")).get("OPTIONS", {})
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
