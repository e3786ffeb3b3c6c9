"""The language of the search, its suggestions, the searches that are kept, and the page and palette that find names."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.console.ops.shared import kept_searches
from jobs.lifecycle import Status
from jobs.models import Job
from tests.callers import browser_of, staff
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.integration.dashboard.reading import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def jobs() -> dict[str, Job]:
    """A slow one of acme that failed after a retry, a quick webhook of other, and one of third that runs."""
    now = timezone.now()
    names = ("acme", "other", "third")
    acme, other, third = (TenantFactory(slug=name, name=f"{name.title()} Shipping") for name in names)
    mail, webhooks = QueueFactory(name="mail"), QueueFactory(name="webhooks")
    start = now - timedelta(seconds=100)
    slow = make_job(acme, Status.ERROR, queue=mail, attempt=2, last_error="ConnectionError: connection reset by peer")
    quick = make_job(other, Status.SUCCESS, queue=webhooks, attempt=1, source_type="shop.order", last_error="")
    runs = make_job(third, Status.RUNNING, queue=mail, attempt=1, source_type="shop.order", source_method="pay")
    lengths = {slow: (90, 70), quick: (1, 2), runs: (None, 5)}
    for job, (ran, waited) in lengths.items():
        end = None if ran is None else start + timedelta(seconds=ran)
        since = start - timedelta(seconds=waited)
        Job.objects.filter(pk=job.pk).update(start_time=start, end_time=end, waited_since=since)
    return {"slow": slow, "quick": quick, "runs": runs}


def found(client, jobs, typed: str) -> str:
    """The names of the jobs that a search finds, sorted."""
    ids = re.findall(r'name="ids" value="(\d+)"', text(client.get("/ops/jobs/", {"q": typed})))
    return " ".join(sorted(name for name, job in jobs.items() if str(job.pk) in ids))


def test_a_word_leaves_out_compares_lists_and_quotes(client, jobs, subtests):
    expected = {
        "-queue:webhooks": "runs slow",
        "-tenant:acme -status:running": "quick",
        "tenant:acme,other": "quick slow",
        "-tenant:acme,other": "runs",
        "status:error,success queue:mail,webhooks": "quick slow",
        "ran:>80s": "runs slow",
        "ran:<10s": "quick",
        "-ran:>10s": "quick",
        "waited:>1m": "slow",
        "waited:<1m": "quick runs",
        "attempt:>1": "slow",
        "attempt:1": "quick runs",
        '"connection reset"': "slow",
        '-"connection reset"': "quick runs",
        "type:pay": "runs",
        "execute": "quick slow",  # a method that this release knows
        "-execute": "runs",
    }
    for typed, names in expected.items():
        with subtests.test(typed):
            assert found(client, jobs, typed) == names
    wrong = {
        "ran:10s": "ran: must be like &gt;10s",
        "waited:&gt;1": "waited: must be like",
        "ran:&gt;999999d": "at most ten years",
        "attempt:&gt;x": "attempt: must be like &gt;1",
        "tenant:,": "tenant: must have 1 to 20 values",
        "tenant:acme,nobody": "&#x27;nobody&#x27; is unknown",
        "-nobody": "is not of the form name:value",
    }
    for typed, told in wrong.items():
        with subtests.test(typed):
            page = text(client.get("/ops/jobs/", {"q": typed.replace("&gt;", ">")}))
            assert told.lower() in page.lower()
            assert "<tbody>" not in page


def test_a_word_under_the_caret_gets_suggestions_and_a_name_alone_what_it_may_mean(client, jobs, operator):
    def offers(word: str) -> list[str]:
        return [offer["text"] for offer in client.get("/ops/jobs/suggestions", {"q": word}).json()["offers"]]

    assert offers("stat") == ["status:"]
    assert offers("Acme Sh") == ["tenant:acme"]
    assert offers("-queue:w") == ["-queue:webhooks"]
    assert offers("tenant:other,ac") == ["tenant:other,acme"]
    assert offers("status:err") == ["status:error"]
    assert "type:reports.datareport.execute" in offers("type:datareport")
    assert offers("ran:") == ["ran:>1s", "ran:>10s", "ran:>1m", "ran:>10m"]
    assert offers("user:x") == offers('"err') == offers("") == offers("x" * 5000) == []
    page = text(client.get("/ops/jobs/", {"q": "since:1h Acme Shipping"}))
    assert '<a href="/ops/jobs/?q=since%3A1h%20tenant%3Aacme">tenant:acme</a>' in page
    assert "tenant:other" not in page
    assert operator("view_queue").get("/ops/jobs/suggestions", {"q": "acme"}).status_code == 403


def test_a_kept_search_is_its_users_alone(client, jobs, operator):
    assert client.post("/ops/jobs/keep-search", {"q": "tenant:acme  since:1h"}).status_code == 303
    client.post("/ops/jobs/keep-search", {"q": "status:dead"})
    page = text(client.get("/ops/jobs/", {"q": "status:dead"}))
    assert re.findall("★ ([^<]+)<", page) == ["status:dead", "tenant:acme since:1h"]
    assert "Keep this search" not in page
    client.post("/ops/jobs/keep-search", {"q": "nonsense"})
    client.post("/ops/jobs/keep-search", {"q": "status:dead", "forget": "1"})
    assert re.findall("★ ([^<]+)<", text(client.get("/ops/jobs/"))) == ["tenant:acme since:1h"]
    header = text(client.get("/ops/health/")).partition("</header>")[0]
    assert '<a href="/ops/jobs/?q=tenant%3Aacme%20since%3A1h">tenant:acme since:1h</a>' in header
    places = client.get("/ops/find/places", {"q": "since:1h"}).json()["offers"]
    assert places[0]["address"] == "/ops/jobs/?q=tenant%3Aacme+since%3A1h"
    stranger = browser_of(staff("view_job"))
    stranger.cookies[kept_searches.COOKIE] = client.cookies[kept_searches.COOKIE].value
    assert "★" not in text(stranger.get("/ops/jobs/"))
    few = operator("view_job", "view_worker")
    few.post("/ops/jobs/keep-search", {"q": "status:dead"})
    assert "★" in text(few.get("/ops/health/"))
    few.user.user_permissions.remove(*few.user.user_permissions.filter(codename="view_job"))
    assert "★" not in text(few.get("/ops/health/")), "the list that it leads to is not for this user"
    assert operator("view_queue").post("/ops/jobs/keep-search", {"q": "status:dead"}).status_code == 403
    for number in range(40):
        client.post("/ops/jobs/keep-search", {"q": f"user:{number}{'x' * 900}"})
    kept = re.findall("★ user:(..)", text(client.get("/ops/jobs/")))
    assert kept[0] == "39"
    assert len(kept) <= kept_searches.MOST
    assert len(client.cookies[kept_searches.COOKIE].value) <= kept_searches.MAX_SIZE


def test_the_palette_and_its_page_find_what_their_user_may_open(client, jobs, operator):
    def offers(browser, typed: str) -> list[str]:
        return [offer["address"] for offer in browser.get("/ops/find/places", {"q": typed}).json()["offers"]]

    assert "/ops/tenants/" in offers(client, "")
    assert offers(client, "acme") == ["/ops/tenants/acme/"]
    assert offers(client, "other ship") == ["/ops/tenants/other/"]
    assert "/ops/jobs/?q=queue%3Awebhooks" in offers(client, "ebhook")
    assert offers(client, "mail")[0] == "/ops/jobs/?q=queue%3Amail", "the whole name first"
    assert offers(client, str(jobs["slow"].pk)) == [f"/ops/jobs/{jobs['slow'].pk}/"]
    assert offers(client, "status:dead") == ["/ops/jobs/?q=status%3Adead"]
    assert offers(client, "datareport.exec")[0] == "/ops/types/reports.datareport.execute/"
    assert offers(client, "9" * 30) == []
    few = operator("view_job")
    assert offers(few, "acme") == []
    assert offers(few, "") == ["/ops/", "/ops/jobs/"]
    page = text(client.get("/ops/find/", {"q": "Shipping"}))
    assert re.findall(r'<th scope="row" class="name"><a href="([^"]+)"', page) == [
        "/ops/tenants/acme/",
        "/ops/tenants/other/",
        "/ops/tenants/third/",
    ]
    assert "Nothing has this in its name." in text(client.get("/ops/find/", {"q": "zz-nowhere"}))
    for typed in ("tenant:acme", str(jobs["slow"].pk), "reports.datareport.execute"):
        assert client.get("/ops/find/", {"q": typed})["Location"].startswith("/ops/jobs/?q=")
    assert re.search(r'<form class="search" action="/ops/find/"', page)


def test_a_list_is_a_file_without_formulas_of_what_its_search_finds(client, jobs):
    Job.objects.filter(pk=jobs["slow"].pk).update(user_key="=1+1", last_error="ValueError: a\nb")
    answer = client.get("/ops/jobs/csv", {"q": "tenant:acme"})
    assert answer["Content-Disposition"] == 'attachment; filename="jobs.csv"'
    [row] = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (row["id"], row["tenant"], row["type"]) == (str(jobs["slow"].pk), "acme", "reports.datareport.execute")
    assert (row["user"], row["ran_seconds"], row["waited_seconds"]) == ("'=1+1", "90.0", "70.0")
    assert "\n" not in row["error"]
    assert client.get("/ops/jobs/csv", {"q": "nonsense"})["Location"] == "/ops/jobs/?q=nonsense"
    dead = make_job(TenantFactory(slug="fourth"), Status.DEAD, last_error="ValueError: no")
    [row] = csv.DictReader(io.StringIO(client.get("/ops/dead/csv", {"tenant": "fourth"}).content.decode()))
    assert (row["id"], row["status"]) == (str(dead.pk), "dead")
    assert client.get("/ops/dead/csv", {"since": "x"})["Location"] == "/ops/dead/?since=x"
    for page in ("/ops/jobs/", "/ops/dead/"):
        assert f'href="{page}csv?' in text(client.get(page))
