"""Ask when waiting jobs start: the app that predicts it registers itself (`jobs.insight`).

Without such an app no job has a prediction."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from jobs.models import JobRow
from jobs.reading.starts import LaneStarts, Starts


class Predictor(Protocol):
    """A module that predicts the starts of jobs. Its answers lack jobs without a prediction."""

    def starts(self, jobs: Sequence[JobRow], /) -> dict[int, Starts]:
        """Return the predicted starts of the waiting jobs, by id. The caller has checked that they may be shown."""
        ...

    def starts_of(self, asked: Collection[tuple[int, int]], /) -> dict[tuple[int, int], Starts]:
        """Return the predicted starts of jobs in line, by tenant and id. Jobs of other tenants are missing."""
        ...

    def last_of(self, tenant_id: int, /) -> dict[str, Starts]:
        """Return when the tenant's last job in line starts, by queue."""
        ...

    def of_lanes(self, lanes: Iterable[tuple[int, int]], /) -> dict[tuple[int, int], LaneStarts]:
        """Return the predicted starts in these lanes, by tenant and queue."""
        ...


_predictors: list[Predictor] = []


def register(predictor: Predictor) -> None:
    _predictors.append(predictor)


def is_registered() -> bool:
    """Return whether an app predicts starts here."""
    return bool(_predictors)


def starts(jobs: Sequence[JobRow]) -> dict[int, Starts]:
    return {key: value for predictor in _predictors for key, value in predictor.starts(jobs).items()}


def starts_of(asked: Collection[tuple[int, int]]) -> dict[tuple[int, int], Starts]:
    return {key: value for predictor in _predictors for key, value in predictor.starts_of(asked).items()}


def last_of(tenant_id: int) -> dict[str, Starts]:
    return {key: value for predictor in _predictors for key, value in predictor.last_of(tenant_id).items()}


def of_lanes(lanes: Iterable[tuple[int, int]]) -> dict[tuple[int, int], LaneStarts]:
    return {key: value for predictor in _predictors for key, value in predictor.of_lanes(lanes).items()}
