"""Suggestions for the word under the caret in the search of jobs: names of filters, then their values."""

from collections.abc import Callable, Iterable, Mapping

from django.http import HttpRequest, JsonResponse

from jobs.console.operations.comparisons import COMPARED
from jobs.console.operations.filters import LISTS, NAMES
from jobs.console.ops.shared import finding
from jobs.console.ops.shared.access import page_for
from jobs.console.ops.shared.search_language import with_word
from jobs.lifecycle import Status
from jobs.pages.typed import texts
from jobs.reading.listing import HELD

Words = Iterable[tuple[str, str]]  # a value, and a note about it
AGES = ("30m", "1h", "1d", "7d")
LENGTHS = (">1s", ">10s", ">1m", ">10m")


def _plain(values: Iterable[str]) -> Callable[[str], Words]:
    known = list(values)
    return lambda part: [(value, "") for value in known if part.lower() in value]


VALUES: Mapping[str, Callable[[str], Words]] = {
    "status": _plain([*Status, HELD]),
    "retried": _plain(["yes", "no"]),
    "tenant": lambda part: [(tenant.jobs_slug, tenant.jobs_name) for tenant in finding.tenants(part)],
    "queue": lambda part: [(name, "") for name in finding.queues(part)],
    "type": lambda part: [(name, "") for name in finding.job_types(part)],
    "worker": lambda part: [(name, "") for name in finding.workers(part)],
    **dict.fromkeys(("since", "until", "ended_since", "ended_until"), _plain(AGES)),
    **dict.fromkeys(COMPARED.keys() - {"attempt"}, _plain(LENGTHS)),
    "attempt": _plain([">1", ">2", ">5"]),
}
MEANT = ("tenant", "type", "queue")  # what a word without a name may be a part of


@page_for("jobs.view_job")
def suggest(request: HttpRequest) -> JsonResponse:
    """Answer with the suggestions for a `word`: {"offers": [{"text": "tenant:acme", "note": "Acme & Co."}]}."""
    word = texts(request.GET, ("q",))["q"]
    return JsonResponse({"offers": [{"text": text, "note": note} for text, note in suggestions(word)]})


def suggestions(word: str) -> list[tuple[str, str]]:
    """Return words that may stand for this one, each with a note."""
    typed = word.removeprefix("-")
    minus = word[: len(word) - len(typed)]
    name, colon, value = typed.partition(":")
    if not typed or '"' in typed:
        found: Words = []
    elif colon:
        found = _of_value(name.lower(), value)
    else:
        names = [(f"{known}:", "") for known in NAMES if known.startswith(typed.lower()) and "<" not in known]
        found = [*names, *meant(typed)]
    return [(f"{minus}{text}", note) for text, note in found]


def meant(text: str) -> list[tuple[str, str]]:
    """Return the filters that a text without a name may mean: tenant:acme for "Acme & Co."."""
    if not text:
        return []
    found = ((with_word("", name, value), note) for name in MEANT for value, note in VALUES[name](text))
    return [(word, note) for word, note in found if word]


def _of_value(name: str, value: str) -> Words:
    before, comma, last = value.rpartition(",") if name in LISTS else ("", "", value)
    offered = VALUES[name](last) if name in VALUES else ()
    return [(f"{name}:{before}{comma}{one}", note) for one, note in offered if " " not in one]
