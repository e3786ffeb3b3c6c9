"""How often what was said of the starts of jobs held, in a sentence."""

from jobs.reading.health.looks import PredictionsLook
from jobs.reading.shares import percent


def in_words(said: PredictionsLook) -> str:
    """Coverage, loss and baselines of the last day; empty if no outcome is known."""
    if not said.known_90 or not said.known_50:
        return ""
    held = f"50 → {percent(said.held_50, said.known_50)}, 90 → {percent(said.held_90, said.known_90)}"
    loss = f"loss {_seconds(said.loss_50, said.loss_90)} (jobs ahead {_seconds(said.ahead_50, said.ahead_90)}, "
    loss += f"last waits {_seconds(said.past_50, said.past_90)})"
    return f"Predictions 24 h ({said.predictions:,}): {held}, {loss}, {percent(said.unsaid, said.predictions)} unsaid"


def how_often(said: PredictionsLook) -> str:
    """The coverage, for who reads one such statement; empty if no outcome is known."""
    if not said.known_90 or not said.known_50:
        return ""
    first, second = percent(said.held_50, said.known_50), percent(said.held_90, said.known_90)
    return f"Of {said.known_90:,} such statements in 24 h {first} held by the first moment, {second} by the second."


def _seconds(*losses: float | None) -> str:
    return " and ".join("–" if loss is None else f"{loss:.1f}" for loss in losses) + " s"
