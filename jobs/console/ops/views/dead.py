"""Dead letters: the latest by shape of error and job type, and one by one."""

from django.http import HttpRequest, HttpResponse

from jobs.calls.refusals import InvalidRequest
from jobs.console.ops import live, snapshot
from jobs.console.ops.access import page_for
from jobs.console.ops.answers import sentence
from jobs.console.ops.dead_letters import MAX_GROUPED, SINCE, classes, filters_of, fits, groups, matching
from jobs.console.ops.tags import query_with
from jobs.models import DeadLetter

A_PAGE = 50
COLUMNS = ("pk", "died_at", "tenant_id", "source_type", "source_method", "last_error")  # a thousand objects take 100 ms


@page_for("jobs.view_deadletter")
def show(request: HttpRequest) -> HttpResponse:
    """`tenant`, `queue`, `type`, `error`, `like`: only letters that fit. `since`: one of SINCE."""
    seen = snapshot.current()
    filters = filters_of(request.GET)
    wrong, latest = "", []
    try:
        latest = list(matching(filters, seen.now).values_list(*COLUMNS, named=True)[:MAX_GROUPED])
    except InvalidRequest as refused:
        wrong = sentence(refused)
    letters = [letter for letter in latest if fits(filters, letter.last_error)]
    shown_letters = _whole([letter.pk for letter in letters[:A_PAGE]])
    shown = {
        "snapshot": seen,
        "filters": filters,
        "wrong": wrong,
        "chips": [(f"{name}:{value}", query_with(request.GET, **{name: None})) for name, value in filters.items()],
        "offers": {
            "tenants": sorted({letter.tenant.jobs_slug for letter in shown_letters}),
            "queues": sorted(queue.name for queue in seen.queues.values()),
            "types": sorted({f"{letter.source_type}.{letter.source_method}" for letter in latest}),
        },
        "groups": groups(letters, seen.now),
        "letters": shown_letters,
        "more": len(letters) > A_PAGE,
        "all_read": len(latest) < MAX_GROUPED,
        "latest": MAX_GROUPED,
        "classes": classes(filters, seen.now) if len(latest) == MAX_GROUPED else [],
        "lengths": SINCE,
        "upto": letters[0].died_at if letters else None,  # a selection has none that die later
    }
    return live.page(request, "dead", "Dead letters", ("letters",), shown, every=0)


def _whole(ids: list[int]) -> list[DeadLetter]:
    letters = DeadLetter.objects.select_related("tenant", "queue").defer("args", "stats").in_bulk(ids)
    return [letters[pk] for pk in ids if pk in letters]
