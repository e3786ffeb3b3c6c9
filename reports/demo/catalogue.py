"""The demo's customers and what they ask: real questions to real data, of different weight. SQL in `sql/`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SQL = Path(__file__).with_name("sql")


@dataclass(frozen=True)
class Sample:
    """A report of a customer. `heavy`: takes the database about a second rather than milliseconds."""

    sql_file: str
    name: str
    question: str
    parameters: Mapping[str, Mapping[str, Any]]
    heavy: bool = False

    @property
    def sql(self) -> str:
        return (SQL / f"{self.sql_file}.sql").read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class Customer:
    """A tenant of the demo, its slots, its one login, and the data its database is given."""

    name: str
    slug: str
    slots: int
    username: str
    source: str
    datasets: tuple[str, ...]
    samples: tuple[Sample, ...]


def _one_of(*choices: Any) -> dict[str, Any]:
    return {"default": choices[0], "choices": list(choices)}


PROVISIONS = Customer(
    name="Puget Provisions",
    slug="puget-provisions",
    slots=1,
    username="nora",
    source="Seattle weather",
    datasets=("weather",),
    samples=(
        Sample(
            "rain_by_month", "Rain by month", "Which months bring the rain, and is it the same each year?", {}
        ),
        Sample(
            "dry_spells",
            "Longest dry spells",
            "For how long can we count on the terrace?",
            {
                "since": {"default": "2012-01-01", "label": "Since"},
                "drizzle_mm": {**_one_of(0.0, 0.5, 1.0, 2.0), "label": "Still dry with, mm"},
            },
        ),
        Sample(
            "days_like_this",
            "Days like this one",
            "What else was sold on days with the same weather?",
            {"day": {"default": "2014-08-01", "label": "Day"}},
        ),
        Sample(
            "weather_twins",
            "Weather twins",
            "Which two days, at least a year apart, were most alike?",
            {"kind": {**_one_of("any", "sun", "rain", "fog", "drizzle", "snow"), "label": "Weather"}},
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
            {"at_least": {**_one_of(50, 25, 10, 1), "label": "At least, airports"}},
        ),
        Sample(
            "nearest_airports",
            "Nearest alternates",
            "Where can a flight divert to?",
            {
                "airport": {
                    **_one_of("SEA", "ORD", "JFK", "LAX", "DEN", "ATL", "DFW", "MSP"),
                    "label": "Airport",
                },
                "rows": {**_one_of(10, 5, 25, 50), "label": "How many"},
            },
        ),
        Sample(
            "loneliest_airports",
            "Loneliest airports",
            "From which airport is it farthest to the next one?",
            {"state": {**_one_of("all", "AK", "TX", "CA", "NY", "HI"), "label": "State"}},
            heavy=True,
        ),
        Sample(
            "hub_sites",
            "Sites for a hub",
            "Which airport has most others within reach?",
            {"radius_km": {**_one_of(150, 100, 200, 300), "label": "Within, km"}},
            heavy=True,
        ),
    ),
)

FINCH = Customer(
    name="Alder & Finch Capital",
    slug="alder-finch-capital",
    slots=5,
    username="ines",
    source="Markets and motors",
    datasets=("stocks", "cars"),
    samples=(
        Sample(
            "growth_of_1000",
            "Growth of 1,000 dollars",
            "What would 1,000 dollars have become?",
            {"year": {**_one_of(2004, 2000, 2002, 2006, 2008), "label": "Bought in"}},
        ),
        Sample(
            "rolling_volatility",
            "Rolling volatility",
            "How nervous was the share over the last twelve months?",
            {"symbol": {**_one_of("AAPL", "AMZN", "GOOG", "IBM", "MSFT"), "label": "Share"}},
        ),
        Sample("drawdowns", "Deepest drawdowns", "How much did one lose who bought at the top?", {}),
        Sample("correlations", "What moves together", "Which shares rise and fall with each other?", {}),
        Sample(
            "possible_futures",
            "Possible futures",
            "What may 1,000 dollars be worth in a year, going by the past?",
            {
                "symbol": {**_one_of("AAPL", "AMZN", "GOOG", "IBM", "MSFT"), "label": "Share"},
                "paths": {**_one_of(100_000, 10_000, 200_000), "label": "Simulated years"},
            },
            heavy=True,
        ),
        Sample(
            "fuel_economy",
            "Fuel economy by origin",
            "Who built the thrifty cars?",
            {"origin": {**_one_of("all", "USA", "Europe", "Japan"), "label": "Built in"}},
        ),
    ),
)

CUSTOMERS = (PROVISIONS, MERIDIAN, FINCH)
