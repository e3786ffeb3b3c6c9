"""New keys and new members of a tenant. A key is shown once."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.access import MAX_NAME, add_member, issue_key
from jobs.console.ops.records.form_page import form_page, parts
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done
from jobs.pages.answers import SeeOther, existing
from plumbing.text import storable
from tenants.models import Tenant
from tenants.tenant_model import tenant_of_slug


class KeyForm(forms.Form):
    name = forms.CharField(max_length=MAX_NAME, help_text="The program that uses it, such as nightly export.")
    expires = forms.DateTimeField(required=False, help_text="Such as 2030-01-31 09:00, in UTC. Empty: never.")


class MemberForm(forms.Form):
    user = forms.CharField(help_text="The login of a user, who then sees the jobs of the tenant.")


@page_for("tenants.add_apikey")
def new_key(request: HttpRequest, slug: str) -> HttpResponse:
    return _key_page(request, _tenant(slug), KeyForm())


@action_for("tenants.add_apikey")
def add_key(request: HttpRequest, slug: str) -> HttpResponse:
    """Issue a key. The next page shows it, and no later page does."""
    tenant, form = _tenant(slug), KeyForm(request.POST)
    if not form.is_valid():
        return _key_page(request, tenant, form)
    try:
        _, token = issue_key(tenant, form.cleaned_data["name"], form.cleaned_data["expires"])
    except InvalidRequest as refused:
        form.add_error(refused.field, _sentence(refused))
        return _key_page(request, tenant, form)
    text = "The key is <code>{}</code> Copy it now: it is not stored and cannot be shown again."
    messages.warning(request, format_html(text, token))
    return SeeOther(reverse("jobs_ops:tenant", args=[slug]))


@page_for("tenants.add_member")
def new_member(request: HttpRequest, slug: str) -> HttpResponse:
    return _member_page(request, _tenant(slug), MemberForm())


@action_for("tenants.add_member")
def add_user(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a user a member of the tenant."""
    tenant, form = _tenant(slug), MemberForm(request.POST)
    if not form.is_valid():
        return _member_page(request, tenant, form)
    try:
        member = add_member(slug, form.cleaned_data["user"])
    except InvalidRequest as refused:
        form.add_error(refused.field if refused.field in form.fields else None, _sentence(refused))
        return _member_page(request, tenant, form)
    done(request, f"{member.user.get_username()} is a member of {tenant.jobs_name}.")
    return SeeOther(reverse("jobs_ops:tenant", args=[slug]))


def _key_page(request: HttpRequest, tenant: Tenant, form: Any) -> HttpResponse:
    address = reverse("jobs_ops:add-key", args=[tenant.jobs_slug])
    title, shown = f"New API key of {tenant.jobs_name}", parts(form, {"": ["name", "expires"]})
    return form_page(request, title, address=address, forms=[form], shown=shown, button="Create key")


def _member_page(request: HttpRequest, tenant: Tenant, form: Any) -> HttpResponse:
    address = reverse("jobs_ops:add-member", args=[tenant.jobs_slug])
    title, shown = f"New member of {tenant.jobs_name}", parts(form, {"": ["user"]})
    return form_page(request, title, address=address, forms=[form], shown=shown, button="Add member")


def _tenant(slug: str) -> Tenant:
    return existing(tenant_of_slug(storable(slug)), "There is no such tenant.")


def _sentence(refused: InvalidRequest) -> str:
    return f"{refused.message[:1].upper()}{refused.message[1:]}."
