"""The answer to an operator's action: a message, and the way back."""

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse

from jobs.calls.refusals import InvalidRequest
from jobs.console.ops.shared import snapshot
from jobs.pages import answers
from jobs.pages.answers import SeeOther

MAX_UNASKED = 100  # jobs that are changed without a confirmation
WHOLE = ("q", "id", "ids", "all")  # a form's only field, or none


def done(request: HttpRequest, message: str) -> SeeOther:
    """Redirect to the page that asked, with a message; the next look sees the change."""
    messages.success(request, message)
    snapshot.forget()
    return SeeOther(back(request))


def refused(request: HttpRequest, why: str) -> SeeOther:
    """Redirect to the page that asked, with the reason."""
    messages.error(request, why)
    return SeeOther(back(request))


def sentence(refused: InvalidRequest) -> str:
    """Return a refusal as a sentence. It names the field to correct, unless it concerns the form as a whole."""
    message = refused.message if refused.field in WHOLE else str(refused)
    return f"{message[:1].upper()}{message[1:]}."


def back(request: HttpRequest) -> str:
    return answers.back(request, reverse("jobs_ops:overview"))
