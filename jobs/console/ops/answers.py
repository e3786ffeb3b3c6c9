"""The answer to an operator's action: a message, and the way back."""

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse

from jobs.console.ops import snapshot
from jobs.pages import answers
from jobs.pages.answers import SeeOther


def done(request: HttpRequest, said: str) -> SeeOther:
    """Back to the page that asked; the next look sees the change."""
    messages.success(request, said)
    snapshot.forget()
    return SeeOther(back(request))


def refused(request: HttpRequest, why: str) -> SeeOther:
    """Back to the page that asked, with the reason."""
    messages.error(request, why)
    return SeeOther(back(request))


def back(request: HttpRequest) -> str:
    return answers.back(request, reverse("ops:overview"))
