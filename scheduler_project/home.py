"""The login: one page for all users. Operators land on their live pages, members on their reports.

Sessions of operators end OPERATOR_SESSION seconds after the login, even if they are in use.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.contrib.auth.views import LoginView, redirect_to_login
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils import timezone

from plumbing.addresses import home_of_operator
from tenants.operators import is_operator


class Login(LoginView):
    def get_default_redirect_url(self) -> str:
        return home_of(self.request.user)


def login_of_admin(request: HttpRequest) -> HttpResponseRedirect:
    """Redirect to the site's login: the admin has none. A user who wanted no special page lands on their home page."""
    wanted = request.GET.get("next", "")
    return redirect_to_login("" if wanted == reverse("admin:index") else wanted)


def home_of(user: Any) -> str:
    """Return the address of the user's home page. For staff who may not see jobs, it is the admin."""
    return home_of_operator(user) if is_operator(user) else resolve_url(settings.LOGIN_REDIRECT_URL)


@receiver(user_logged_in)
def bound(user: Any, request: HttpRequest, **_: Any) -> None:
    if is_operator(user):
        # A moment, not a length: a length would begin anew with every change of the session.
        request.session.set_expiry(timezone.now() + timedelta(seconds=settings.OPERATOR_SESSION))
