"""The search of jobs: exact values only, each of which an index finds."""

from typing import Any

from django.db.models import QuerySet

HELP = "id, user:anna or reports.datareport:42"
MAX_ID, DIGITS = 2**63 - 1, 19


def search(jobs: QuerySet[Any], typed: str) -> QuerySet[Any]:
    """Find jobs by number (the id), `user:<key>`, `<source type>` or `<source type>:<source id>`."""
    typed = typed.strip()
    if not typed:
        return jobs
    if typed.isdecimal():
        fits = len(typed) <= DIGITS and int(typed) <= MAX_ID  # Python refuses to read 4,301 digits
        return jobs.filter(pk=int(typed)) if fits else jobs.none()
    name, colon, key = typed.partition(":")
    if name == "user":
        return jobs.filter(user_key=key)
    jobs = jobs.filter(source_type=name.lower())
    return jobs.filter(source_id=key) if colon else jobs
