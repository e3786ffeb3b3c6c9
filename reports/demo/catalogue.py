"""The demo's customers and their reports: real questions to real data, some heavy, some light. SQL in `sql/`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SQL = Path(__file__).with_name("sql")


@dataclass(frozen=True)
class Sample:
    """A report of a customer.

    heavy: it takes the database about a second rather than milliseconds.
    """

    sql_file: str
    name: str
    question: str
    parameters: Sequence[Mapping[str, Any]]
    heavy: bool = False

    @property
    def sql(self) -> str:
        return (SQL / f"{self.sql_file}.sql").read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class Customer:
    """A tenant of the demo: its slots, its login, and the data sets of its database.

    username: "" for one without a login.
    """

    name: str
    slug: str
    slots: int
    username: str
    source: str
    datasets: tuple[str, ...]
    samples: tuple[Sample, ...]


def _choice(name: str, label: str, *choices: Any) -> dict[str, Any]:
    return {"name": name, "label": label, "default": choices[0], "choices": list(choices)}


def _free(name: str, label: str, default: Any) -> dict[str, Any]:
    return {"name": name, "label": label, "default": default}


PROVISIONS = Customer(
    name="Puget Provisions",
    slug="puget-provisions",
    slots=1,
    username="nora",
    source="Seattle weather",
    datasets=("weather",),
    samples=(
        Sample("rain_by_month", "Rain by month", "Which months bring the rain, and is it the same each year?", []),
        Sample(
            "dry_spells",
            "Longest dry spells",
            "For how long can we count on the terrace?",
            [
                _free("since", "Since", "2012-01-01"),
                _choice("drizzle_mm", "Still dry with, mm", 0.0, 0.5, 1.0, 2.0),
            ],
        ),
        Sample(
            "days_like_this",
            "Days like this one",
            "What else was sold on days with the same weather?",
            [_free("day", "Day", "2014-08-01")],
        ),
        Sample(
            "weather_twins",
            "Weather twins",
            "Which two days, at least a year apart, were most alike?",
            [_choice("kind", "Weather", "any", "sun", "rain", "fog", "drizzle", "snow")],
            heavy=True,
        ),
    ),
)

MERIDIAN = Customer(
    name="Meridian Airways",
    slug="meridian-airways",
    slots=3,
    username="samir",
    source="US airports",
    datasets=("airports",),
    samples=(
        Sample(
            "airports_per_state",
            "Airports per state",
            "Which states have the densest network?",
            [_choice("at_least", "At least, airports", 50, 25, 10, 1)],
        ),
        Sample(
            "nearest_airports",
            "Nearest alternates",
            "Where can a flight divert to?",
            [
                _choice("airport", "Airport", "SEA", "ORD", "JFK", "LAX", "DEN", "ATL", "DFW", "MSP"),
                _choice("rows", "How many", 10, 5, 25, 50),
            ],
        ),
        Sample(
            "loneliest_airports",
            "Loneliest airports",
            "From which airport is it farthest to the next one?",
            [_choice("state", "State", "all", "AK", "TX", "CA", "NY", "HI")],
            heavy=True,
        ),
    ),
)

FINCH = Customer(
    name="Alder & Finch Capital",
    slug="alder-finch-capital",
    slots=5,
    username="ines",
    source="Share prices",
    datasets=("stocks",),
    samples=(
        Sample(
            "growth_of_1000",
            "Growth of 1,000 dollars",
            "What would 1,000 dollars have become?",
            [_choice("year", "Bought in", 2004, 2000, 2002, 2006, 2008)],
        ),
        Sample(
            "rolling_volatility",
            "Rolling volatility",
            "How nervous was the share over the last twelve months?",
            [_choice("symbol", "Share", "AAPL", "AMZN", "GOOG", "IBM", "MSFT")],
        ),
        Sample("drawdowns", "Deepest drawdowns", "How much did one lose who bought at the top?", []),
        Sample("correlations", "What moves together", "Which shares rise and fall with each other?", []),
        Sample(
            "possible_futures",
            "Possible futures",
            "What may 1,000 dollars be worth in a year, going by the past?",
            [
                _choice("symbol", "Share", "AAPL", "AMZN", "GOOG", "IBM", "MSFT"),
                _choice("paths", "Simulated years", 100_000, 10_000, 200_000),
            ],
            heavy=True,
        ),
    ),
)

CUSTOMERS = (PROVISIONS, MERIDIAN, FINCH)

# More tenants, so that ten of them mail at once: each has one small report, and no login.
SUBSCRIBERS = tuple(
    Customer(
        name=f"Harbour {town}",
        slug=f"harbour-{town.lower()}",
        slots=20,
        username="",
        source="Seattle weather",
        datasets=("weather",),
        samples=PROVISIONS.samples[:1],
    )
    for town in ("Astoria", "Bellingham", "Coos", "Everett", "Newport", "Olympia", "Tacoma")
)
