"""Sessions of operators end OPERATOR_SESSION seconds after the login, whatever is done in them."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from tenants.operators import is_operator


@receiver(user_logged_in)
def bound(user: Any, request: HttpRequest, **_: Any) -> None:
    if is_operator(user):
        # A moment, not a length: one would begin anew with every change of the session.
        request.session.set_expiry(timezone.now() + timedelta(seconds=settings.OPERATOR_SESSION))
