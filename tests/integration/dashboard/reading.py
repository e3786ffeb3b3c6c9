"""An answer as somebody reads it, and what became of a job."""

from django.contrib.messages import get_messages

from jobs.models import Job


def text(response) -> str:
    assert response.status_code == 200
    return response.content.decode()


def said(response) -> str:
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def status(job: Job) -> str:
    return Job.objects.get(pk=job.pk).status
