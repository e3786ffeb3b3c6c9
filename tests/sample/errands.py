"""A function that is a job, in a module that nobody imports until its name is met. Tests import nothing from it."""

from jobs import job


@job(title="An errand")
def fetch(what: str) -> str:
    return f"here is {what}"
