"""The refusals of a request. Each names the field to correct, or the time after which to try again."""

from django.core.exceptions import ValidationError
from django.utils import translation

from plumbing.text import count_of_jobs

BOUNDS = {"min_value": "must be {limit_value} or more.", "max_value": "must be at most {limit_value}."}


class InvalidRequest(ValueError):
    """The request is invalid. Nothing was stored.

    field: the input to correct, as its user knows it ("priority", "args.region").
    message: the mistake, and the allowed values.
    index: the number of the request among several, from 0; None if it is unknown, or the only request.
    """

    def __init__(self, field: str, message: str, index: int | None = None) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
        self.index = index


class UnknownTarget(InvalidRequest):
    """This process knows no such job. Another one may, that runs newer or older code."""


class TooLarge(InvalidRequest):
    """The arguments of a job, or the memory of a job type, exceed their size limit."""


class TenantMoves(InvalidRequest):
    """The tenant moves to another installation, or has moved: this one takes no jobs of it. Nothing was stored.

    retry_after: seconds after which to try again, there or here.
    """

    retry_after = 10

    def __init__(self, message: str) -> None:
        super().__init__("tenant", message)


class Passed(InvalidRequest):
    """The moment for which the job is meant has passed."""


class Undecided(RuntimeError):
    """Other callers kept storing and ending identical jobs. Requests without an identical job may be stored.

    retry_after: seconds after which to try again.
    """

    retry_after = 1

    def __init__(self) -> None:
        super().__init__("Identical jobs start and end too fast to tell whether one exists. Submit this job again")


class Locked(RuntimeError):
    """Another transaction has locked data that this request would change. Parts committed before stay.

    retry_after: seconds after which to try again.
    """

    retry_after = 5

    def __init__(self) -> None:
        super().__init__(
            "Another transaction has locked data that this would change. Some of this request may be done; try again"
        )


class TooManyWaiting(RuntimeError):
    """The tenant's backlog is full. Nothing was stored.

    retry_after: seconds after which to try again.
    """

    retry_after = 10

    def __init__(self, limit: int) -> None:
        super().__init__(f"The backlog is full: at most {count_of_jobs(limit)} may wait. Try again later")
        self.limit = limit


def by_field(error: ValidationError) -> dict[str, str]:
    """Return Django's error messages by field, in English like all our messages, whatever the project's language."""
    with translation.override(None):
        return {
            field: " ".join(message for one in errors for message in _in_our_voice(one))
            for field, errors in error.error_dict.items()
        }


def _in_our_voice(error: ValidationError) -> list[str]:
    """Return the error's messages; for Django's of a bound, what the field must be, as all of our own say it."""
    bound = BOUNDS.get(error.code or "")
    return [bound.format_map(error.params)] if bound and error.params else error.messages
