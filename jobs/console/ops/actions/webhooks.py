"""Add and remove a tenant's webhook, and switch it on."""

from django.http import Http404, HttpRequest, HttpResponse

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.named import tenant_named
from jobs.console.ops.access import action_for
from jobs.console.ops.answers import done, refused, sentence
from jobs.console.ops.views import webhooks
from jobs.engine.webhooks import endpoints
from jobs.models import WebhookEndpoint


@action_for("jobs.add_webhookendpoint")
def add(request: HttpRequest) -> HttpResponse:
    """The answer itself shows the secret: nobody is shown it again."""
    fields = ("tenant", "url", "types", "batches")
    slug, url, types, batches = (request.POST.get(name, "").replace("\x00", "").strip() for name in fields)
    named = [name.strip() for name in batches.split(",") if name.strip()]
    try:
        made, secret = endpoints.add(tenant_named(slug), url, types.replace(",", " ").split(), named)
    except InvalidRequest as error:
        return refused(request, sentence(error))
    shown = webhooks.listed(request, made=made, secret=secret)
    shown["Cache-Control"] = "no-store"
    return shown


@action_for("jobs.delete_webhookendpoint")
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Send nothing more to it."""
    endpoint = _endpoint(pk)
    endpoints.remove(endpoint)
    return done(request, f"Webhook {pk} is removed.")


@action_for("jobs.change_webhookendpoint")
def switch_on(request: HttpRequest, pk: int) -> HttpResponse:
    """Send to it again."""
    endpoints.switch_on(_endpoint(pk))
    return done(request, f"Webhook {pk} is on.")


def _endpoint(pk: int) -> WebhookEndpoint:
    found = WebhookEndpoint.objects.filter(pk=pk).first()
    if found is None:
        raise Http404("There is no such webhook.")
    return found
