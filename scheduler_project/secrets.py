"""Hide the settings that contain a password from error reports."""

import re
from typing import Any, cast

from django.utils.regex_helper import _lazy_re_compile
from django.views.debug import SafeExceptionReporterFilter


class HideUrls(SafeExceptionReporterFilter):
    """Django hides settings by name; our settings with passwords in URLs have other names."""

    hidden_settings = cast(
        "re.Pattern[str]",
        _lazy_re_compile(
            "API|AUTH|TOKEN|KEY|SECRET|PASS|SIGNATURE|HTTP_COOKIE|URL|LOCATION|WEBHOOK|DATABASES|CACHES|EMAIL", re.I
        ),
    )

    def get_safe_settings(self) -> dict[str, Any]:
        """Leave out all settings with a password inside a value, under any name."""
        return {
            name: self.cleansed_substitute if "://" in str(value) else value
            for name, value in super().get_safe_settings().items()
        }
