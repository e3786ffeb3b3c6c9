"""Say in words why a job has given its slot back, and how often."""

from typing import Protocol

from jobs.lifecycle import HandBack
from plumbing.text import ordinal

IN_WORDS = {
    HandBack.DRAIN: "its worker stops",
    HandBack.SLOTS: "its tenant has fewer slots than it held",
    HandBack.BORROWED: "its slot was borrowed, and another job was entitled to the process",
    HandBack.QUEUE: "its queue was paused",
    HandBack.TENANT: "its tenant was paused",
    HandBack.TYPE: "its job type was paused",
    HandBack.TURN: "its turn was over, and another job waited",
}


class Handed(Protocol):
    """The fields of a job that this module reads."""

    @property
    def handed_back(self) -> int: ...
    @property
    def handed_back_why(self) -> str: ...


def in_words(job: Handed) -> str:
    """Return the last reason and the number: "its worker stops (3rd time)"; "" if it has never given its slot back."""
    if not job.handed_back:
        return ""
    times = "" if job.handed_back == 1 else f" ({ordinal(job.handed_back)} time)"
    return f"{IN_WORDS[HandBack(job.handed_back_why)]}{times}"
