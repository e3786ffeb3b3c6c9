"""Turn draws into predictions for the places in each line."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from jobs.allocation.gates import Gate
from jobs.allocation.state import LaneId
from jobs.insight.forecasting import queue_depth
from jobs.insight.forecasting.calibration import Factor
from jobs.insight.forecasting.far_estimates import PRIORITY, FarEstimates
from jobs.insight.forecasting.quantiles import quantile
from jobs.insight.forecasting.simulation import LATER, SHUT, Odds, Simulation, Starts, gates, stretches
from jobs.insight.forecasting.snapshot import InLine, Snapshot
from jobs.insight.forecasting.statements import StartPrediction, predict
from jobs.reading.starts import Reason

NUMBERS = (1, 2, 3, 5, 8, 13, 20, 30, 40, 55, 70, 85, 100, 140, 200, 280, 400, 550, 700, 850, 1_000)  # predicted ones
MANY = 800  # jobs in line beyond which fewer draws are made
DRAWS, DRAWS_OF_MANY = 9, 5
DEFAULT_PRIORITY = 5
EARLY = 0.1  # the quantile before which a job hardly starts

Key = tuple[int, int, str]  # tenant, queue, user: "@ada" if the tenant limits its users, else ""


@dataclass(frozen=True)
class PredictedPlace:
    """A place in a line, with its prediction. Moments are seconds from the moment of the look.

    place: the order in the lane (job_place)
    job: the job at this place; None: a job that would be submitted now
    gate: the first closed gate of the jobs of this line
    raw_50: p50 before the calibration
    raw_90: p90 before the calibration
    prediction: p50 and p90 as they are shown
    """

    place: int
    job: InLine | None
    gate: Gate
    raw_50: float
    raw_90: float
    prediction: StartPrediction


@dataclass(frozen=True)
class Foresight:
    """The input of a forecast, from which it predicts all lines.

    factors: by class and quantile
    off: return no p90, since predictions do not hold in general
    """

    snapshot: Snapshot
    odds: Odds
    factors: Mapping[tuple[str, float], Factor]
    off: bool = False

    def lines(self) -> dict[Key, list[PredictedPlace] | Reason]:
        """Return the predictions for each lane, or the reason for none.

        A lane whose tenant limits its users has predictions for each user.
        """
        holds = gates(self.snapshot)
        lines: dict[Key, list[PredictedPlace] | Reason] = {}
        for key, jobs in self._by_user().items():
            gate = holds.get((key[0], key[1], jobs[0].user), Gate.NO_SLOTS)
            if gate in SHUT:
                lines[key] = Reason(gate.value)
            elif not self.odds.runs.of_all:
                lines[key] = Reason.NO_HISTORY
            else:
                lines[key] = list(self._places(jobs, gate))
        return lines

    @cached_property
    def _draws(self) -> list[Starts]:
        many = sum(self.snapshot.waiting.values()) > MANY
        draws = DRAWS_OF_MANY if many else DRAWS
        starts = queue_depth.starts(self.snapshot, self.odds.runs, draws)
        lines = stretches(self.snapshot, self._ends, queue_depth.standing(self.snapshot, starts))
        return [Simulation(self.snapshot, self.odds, lines, starts).starts() for _ in range(draws)]

    @cached_property
    def _far(self) -> FarEstimates:
        return FarEstimates(self.snapshot, self.odds.runs, self.odds.spread)

    @cached_property
    def _ends(self) -> dict[LaneId, int]:
        """Return the place that a job of the default priority would get now, for each lane that was read to its end."""
        last = {(job.tenant_id, job.queue_id): job.nth for job in self.snapshot.in_line}
        return {
            lane: (DEFAULT_PRIORITY << PRIORITY) + LATER - 1 - n
            for n, (lane, waiting) in enumerate(self.snapshot.waiting.items())
            if last.get(lane, 0) >= waiting
        }

    def _by_user(self) -> dict[Key, list[InLine]]:
        limited = {tenant["id"] for tenant in self.snapshot.tenants if tenant.get("user_slots") is not None}
        jobs_of: dict[Key, list[InLine]] = defaultdict(list)
        for job in self.snapshot.in_line:
            jobs_of[job.tenant_id, job.queue_id, f"@{job.user}" if job.tenant_id in limited else ""].append(job)
        return jobs_of

    def _places(self, jobs: Sequence[InLine], gate: Gate) -> Iterator[PredictedPlace]:
        first = jobs[0]
        least = self.snapshot.held_until((first.tenant_id, first.queue_id))
        end = self._ends.get((first.tenant_id, first.queue_id))
        at: list[tuple[int, InLine | None]] = [(waiting.place, waiting) for waiting in _some(jobs)]
        if end is not None:
            at.append((end, None))
        for place, job in sorted(at, key=lambda pair: pair[0]):
            drawn = [draw[place] for draw in self._draws if place in draw]
            if len(drawn) == len(self._draws):
                early, raw_50, raw_90 = (quantile(drawn, q) for q in (EARLY, 0.5, 0.9))
            elif job is not None:
                early, raw_50, raw_90 = self._far.quantiles(job)
            else:
                continue
            prediction = predict(gate, early, raw_50, raw_90, self.factors, off=self.off, least=least)
            yield PredictedPlace(place, job, gate, raw_50, raw_90, prediction)


def _some(jobs: Sequence[InLine]) -> Iterable[InLine]:
    """Return the jobs that get a prediction: those at NUMBERS in this line or in the lane, and the last one read."""
    return [job for n, job in enumerate(jobs, 1) if n in NUMBERS or job.nth in NUMBERS or n == len(jobs)]
