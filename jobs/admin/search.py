"""What may be typed into the search of jobs: exact values only, none of which makes PostgreSQL read words."""

from django.db.models import QuerySet

from jobs.models import Job

HELP = "id, user:anna or reports.datareport:42"
MAX_ID = 2**63 - 1


def search(jobs: QuerySet[Job], typed: str) -> QuerySet[Job]:
    """The jobs meant by a number (its id), `user:<key>`, `<source type>` or `<source type>:<source id>`."""
    typed = typed.strip()
    if not typed:
        return jobs
    if typed.isdecimal():
        return jobs.filter(pk=int(typed)) if int(typed) <= MAX_ID else jobs.none()
    name, colon, key = typed.partition(":")
    if name == "user":
        return jobs.filter(user_key=key)
    jobs = jobs.filter(source_type=name.lower())
    return jobs.filter(source_id=key) if colon else jobs
