"""A second factor for operators (SECOND_FACTOR): a code of an app on their phone, by django-otp.

Without the code, their session opens only the page that asks for it. At the first login a user sets up the app there.
Programs use keys instead of passwords, and need no second factor.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import segno
from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import MiddlewareNotUsed
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_variables
from django_otp import login, match_token
from django_otp.plugins.otp_totp.models import TOTPDevice

from jobs.http.codes import ProblemCode
from scheduler_project.errors import refused
from scheduler_project.home import home_of
from tenants import audit
from tenants.operators import is_operator

View = Callable[[HttpRequest], HttpResponseBase]
OPEN = ("login", "logout", "second_factor")  # pages that an operator may see without it


WRONG = "Wrong or expired code. Wait for the next one: after wrong codes none is accepted for a while."
INPUT = forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True})


class Code(forms.Form):
    code = forms.CharField(max_length=20, widget=INPUT)


def demanded(get_response: View) -> View:
    """Return a middleware that asks an operator whose session has no second factor for it. After django-otp's."""
    if not settings.SECOND_FACTOR:
        raise MiddlewareNotUsed

    def demanded_view(request: HttpRequest) -> HttpResponseBase:
        user: Any = request.user
        if not (user.is_authenticated and is_operator(user)) or user.is_verified():
            return get_response(request)
        if request.path in map(reverse, OPEN):
            return get_response(request)
        if request.method == "GET" and not request.path_info.startswith("/api/"):
            return HttpResponseRedirect(f"{reverse('second_factor')}?{urlencode({'next': request.get_full_path()})}")
        return refused(request.path_info, ProblemCode.NO_SECOND_FACTOR, "Your second factor is missing: log in anew.")

    return demanded_view


@login_required
def second_factor(request: HttpRequest) -> HttpResponse:
    """Ask for a code; show the secret of a new app first, if there is none."""
    user: Any = request.user
    new = _new_device(user)
    form = Code(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if device := _matching(user, new, form.cleaned_data["code"].replace(" ", "")):
            login(request, device)
            return HttpResponseRedirect(_onward(request))
        form.add_error("code", WRONG)
    context = {"form": form, "next": request.GET.get("next", "")}
    if new is not None:
        context |= {"picture": segno.make(new.config_url).svg_data_uri(scale=5), "secret": _in_fours(new)}
    return render(request, "registration/second_factor.html", context)


@transaction.atomic
def reset(user: Any) -> bool:
    """Forget the user's apps, such as one on a lost phone: the next login sets up another. False: there was none."""
    forgotten, _ = TOTPDevice.objects.filter(user=user).delete()
    if forgotten:
        audit.note("second factor reset", User, [(user.pk, user.get_username())], tenant_id=None)
    return bool(forgotten)


@transaction.atomic
def _new_device(user: Any) -> TOTPDevice | None:
    """Return the device to set up; None if the user has a confirmed one. Two pages opened at once show the same."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if TOTPDevice.objects.devices_for_user(user, confirmed=True).exists():
        return None
    return TOTPDevice.objects.get_or_create(user=user, confirmed=False)[0]


@sensitive_variables("code")
def _matching(user: Any, new: TOTPDevice | None, code: str) -> TOTPDevice | None:
    """Return the device whose code this is; None for a wrong code. If `new` is given, confirm it."""
    if new is None:
        return match_token(user, code)
    if not (new.verify_is_allowed()[0] and new.verify_token(code)):
        return None
    with transaction.atomic():
        new.confirmed = True
        new.save()
        audit.note("second factor set up", User, [(user.pk, user.get_username())], tenant_id=None)
    return new


def _onward(request: HttpRequest) -> str:
    """Return the address that the user wanted, if it is on this site; else their home page."""
    wanted = request.POST.get("next", "")
    ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if ours else home_of(request.user)


def _in_fours(device: TOTPDevice) -> str:
    secret = device.config_url.partition("secret=")[2].partition("&")[0]
    return " ".join(secret[n : n + 4] for n in range(0, len(secret), 4))
