"""The pages as somebody reads them."""

from django.test import Client

from jobs.models import Job

LIST = "/jobs/"


def page(client: Client, path: str = LIST) -> str:
    """The text of a page, with single spaces."""
    response = client.get(path)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def row(client: Client, job: Job, path: str = LIST) -> str:
    """The row of a job in the list; "" if it has none."""
    return page(client, path).partition(f'<tr id="job-{job.pk}">')[2].partition("</tr>")[0]


def why(client: Client, job: Job) -> str:
    """The part of a job's page that tells why it waits or how it ended."""
    return page(client, f"{LIST}{job.pk}/").partition('id="why"')[2].partition("</section>")[0]
