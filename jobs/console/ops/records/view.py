"""New queues, and new tenants with their slots. The form checks what the admin checks."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.forms import ModelForm, modelform_factory
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from jobs.console.operations import pools
from jobs.console.operations.limit_forms import KnownNames
from jobs.console.operations.limits import OF_QUEUE, OF_TENANT
from jobs.console.ops.records.form_page import form_page, limit_parts, parts
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done
from jobs.engine.verbs import limits
from jobs.models import Queue
from jobs.pages.answers import SeeOther
from plumbing.names import named
from tenants.mirror import owns_tenants
from tenants.models import Tenant, TenantQueue

QUEUE_LIMITS = [limit for limit in OF_QUEUE if limit.name != "paused"]
SLOTS = [limit for limit in OF_TENANT if limit.name not in ("paused", "budgets")]  # as `manage.py tenants add`


@page_for("jobs.add_queue")
def new_queue(request: HttpRequest) -> HttpResponse:
    return _queue_page(request, _queue_form())


@action_for("jobs.add_queue")
def add_queue(request: HttpRequest) -> HttpResponse:
    form = _queue_form(request.POST)
    if not form.is_valid():
        return _queue_page(request, form)
    queue = form.save(commit=False)
    limits.store(queue)
    for sentence in pools.after_move(queue):
        messages.warning(request, sentence)
    done(request, f"Created queue {queue.name}.")
    return SeeOther(f"{reverse('jobs_ops:queues')}#queue-{queue.pk}")


def _queue_form(data: Any = None) -> "ModelForm[Any]":
    names = [limit.name for limit in QUEUE_LIMITS]
    form: ModelForm[Any] = modelform_factory(Queue, KnownNames, fields=["name", *names])(data)
    return form


def _queue_page(request: HttpRequest, form: "ModelForm[Any]") -> HttpResponse:
    shown = limit_parts(form, QUEUE_LIMITS, ["name"])
    address = reverse("jobs_ops:add-queue")
    return form_page(request, "New queue", address=address, forms=[form], shown=shown, button="Create queue")


@page_for("tenants.add_tenant")
def new_tenant(request: HttpRequest) -> HttpResponse:
    return _tenant_page(request, *_tenant_forms(request))


@action_for("tenants.add_tenant")
def add_tenant(request: HttpRequest) -> HttpResponse:
    """Add a tenant. Without the permission to give slots, it has none."""
    tenant_form, slots_form = _tenant_forms(request, request.POST)
    if not (tenant_form.is_valid() & (slots_form is None or slots_form.is_valid())):
        return _tenant_page(request, tenant_form, slots_form)
    with transaction.atomic():
        tenant = tenant_form.save()
        slots = TenantQueue(num_slots=0) if slots_form is None else slots_form.save(commit=False)
        slots.tenant = tenant
        limits.store(slots)
    done(request, f"Created tenant {tenant.jobs_name}.")
    return SeeOther(reverse("jobs_ops:tenant", args=[tenant.jobs_slug]))


def _tenant_forms(request: HttpRequest, data: Any = None) -> "tuple[ModelForm[Any], ModelForm[Any] | None]":
    if not owns_tenants():
        raise Http404("This project has a tenant model of its own: add a row to that.")
    tenant_form = modelform_factory(Tenant, fields=["name", "slug"])(data)
    if not request.user.has_perm(named("tenants.add_tenantqueue")):
        return tenant_form, None
    return tenant_form, modelform_factory(TenantQueue, KnownNames, fields=[limit.name for limit in SLOTS])(data)


def _tenant_page(
    request: HttpRequest, tenant_form: "ModelForm[Any]", slots_form: "ModelForm[Any] | None"
) -> HttpResponse:
    named_parts, more = parts(tenant_form, {"": ["name", "slug"]}), []
    if slots_form is not None:
        more = limit_parts(slots_form, SLOTS)
    forms = [form for form in (tenant_form, slots_form) if form is not None]
    address = reverse("jobs_ops:add-tenant")
    shown = [*named_parts, *more]
    return form_page(request, "New tenant", address=address, forms=forms, shown=shown, button="Create tenant")
