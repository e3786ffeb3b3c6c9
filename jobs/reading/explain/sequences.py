"""Explain a job in a sequence: whose turn it is, and which job stops the others."""

from jobs.allocation.gates import Gate
from jobs.lifecycle import Status
from jobs.reading.explain.gates import Blocker
from jobs.reading.explain.reads import MAX_COUNTED_PLACE, PlaceInSequence
from plumbing.text import count_of_jobs


def in_sequence(place: PlaceInSequence) -> Blocker:
    """The job waits for its turn."""
    first = place.older + (place.turn_id is not None)
    if place.turn_status == Status.DEAD:
        sentence = (
            f"The sequence {place.name} stands still: job {place.turn_id} has died, and the others wait until it is"
            " revived or discarded."
        )
    elif place.older_id is not None:
        sentence = f"Waits for job {place.older_id}, the one before it in the sequence {place.name}; {_first(first)}."
    elif place.turn_id is not None:
        sentence = (
            f"Waits for job {place.turn_id} ({place.turn_status}), the one before it in the sequence {place.name}."
        )
    else:
        sentence = f"It is its turn in the sequence {place.name}; the next dispatch unblocks it."
    return Blocker(Gate.SEQUENCE, sentence, first)


def stops(place: PlaceInSequence) -> str:
    """Return the sentence about a dead job that stops its sequence."""
    waits = (
        f"{_number(place.waiting) if place.waiting else 'no job'} {'wait' if place.waiting > 1 else 'waits'} until then"
    )
    return f"It stops the sequence {place.name}, which goes on when it is revived or discarded: {waits}."


def _first(jobs: int) -> str:
    return f"{_number(jobs)} {'goes' if jobs == 1 else 'go'} first"


def _number(jobs: int) -> str:
    return count_of_jobs(jobs) if jobs <= MAX_COUNTED_PLACE else f"more than {count_of_jobs(MAX_COUNTED_PLACE)}"
