"""Hide the settings, cookies and form fields that contain a secret from error reports."""

import re
from typing import Any, cast

from django.http import HttpRequest
from django.utils.regex_helper import _lazy_re_compile
from django.views.debug import SafeExceptionReporterFilter


class HideSecrets(SafeExceptionReporterFilter):
    """Django's filter hides settings by name. This one knows more names, and hides passwords in URLs, too.

    The cookie `messages` is hidden: it has a key that the admin has just issued, until the next page shows it.
    """

    hidden_settings = cast(
        "re.Pattern[str]",
        _lazy_re_compile(
            "API|AUTH|TOKEN|KEY|SECRET|PASS|SIGNATURE|HTTP_COOKIE|MESSAGES|URL|LOCATION|WEBHOOK|DATABASES|CACHES|EMAIL"
            "|^code$",
            re.I,
        ),
    )

    def get_safe_settings(self) -> dict[str, Any]:
        """Hide every setting whose value contains a URL, which may have a password, under any name."""
        return {
            name: self.cleansed_substitute if "://" in str(value) else value
            for name, value in super().get_safe_settings().items()
        }

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, Any]:
        """Hide form fields by name, too: the marks of a view do not apply to a request that fails before the view."""
        posted = super().get_post_parameters(request)
        return {name: self.cleanse_setting(name, value) for name, value in posted.items()}
