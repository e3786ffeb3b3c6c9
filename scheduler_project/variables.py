"""django-environ that names the variable whose value it cannot read."""

from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

FORMS: dict[Any, str] = {int: "a whole number", float: "a number"}  # others are JSON


class Variables(environ.Env):  # type: ignore[misc]  # it is untyped
    """Reads variables of the environment. Raises ImproperlyConfigured if a value has not the form of its setting."""

    def get_value(self, var: str, *args: Any, **options: Any) -> Any:
        try:
            return super().get_value(var, *args, **options)
        except ValueError:  # of JSON, too
            form = FORMS.get(options.get("cast"), "JSON")
            raise ImproperlyConfigured(f"{var}={self.ENVIRON[var]} in the environment: expected {form}.") from None
