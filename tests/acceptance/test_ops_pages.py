"""The operators' live pages in a real browser: narrow and wide, light and dark, whatever the names."""

import pytest
from playwright.sync_api import expect

from tests.acceptance.ops_world import build
from tests.acceptance.shots import shoot
from tests.thorough import THOROUGH

pytestmark = [
    pytest.mark.long("long names in the layout of /ops/, in several windows"),
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],  # to tell what each of a page's elements passed takes twice as long as to look
    "preload": False,  # no rule of these reads style sheets
}
# Where the colours are looked at elsewhere: their contrast takes two thirds of the time, and more of a long page's.
RULES_WITHOUT_CONTRAST = RULES | {"rules": {"color-contrast": {"enabled": False}}}
LOOK = """() => ({
  wide: document.documentElement.scrollWidth > innerWidth,
  cut: [...document.querySelectorAll('main section, main td, main th, main p, main ul, main dd, main button')]
    .filter(e => e.checkVisibility() && !e.closest('.unseen, thead'))
    .filter(e => e.clientHeight && e.scrollHeight > e.clientHeight + 3)
    .map(e => e.outerHTML.slice(0, 80)),
  small: [...document.querySelectorAll('main button, main summary, nav a')].filter(e => e.checkVisibility())
    .filter(e => e.getBoundingClientRect().height < 24).map(e => e.textContent.trim()),
  over: [...document.querySelectorAll('td[data-label]')] // the label of a card over what it is of
    .filter(e => parseFloat(getComputedStyle(e, '::before').width) > parseFloat(getComputedStyle(e).paddingLeft))
    .map(e => e.dataset.label),
  right: [...document.querySelectorAll('.name')] // where a name in Arabic would be, far from the rest
    .filter(e => getComputedStyle(e).textAlign === 'start').map(e => e.outerHTML.slice(0, 80)),
  joined: [...document.querySelectorAll('.why')] // the lines of an error
    .filter(e => /\\S\\n\\S/.test(e.textContent) && !e.innerText.includes('\\n')).map(e => e.innerText),
  broken: [...document.querySelectorAll('main [data-label=Tenant]')].flatMap(e => { // a name's word in two lines
    const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), found = [], range = document.createRange()
    while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/(?<!\\S)\\p{L}{2,12}(?!\\S)/gu)) {
      range.setStart(texts.currentNode, word.index)
      range.setEnd(texts.currentNode, word.index + word[0].length)
      if (new Set([...range.getClientRects()].map(r => r.top)).size > 1) found.push(word[0])
    }
    return found
  }),
  hides: [...document.querySelectorAll('main *')].filter(e => getComputedStyle(e).position === 'sticky')
    .filter(e => !(e.offsetHeight <= parseFloat(getComputedStyle(document.documentElement).scrollPaddingBottom)))
    .map(e => e.className),
})"""
WINDOWS = [(360, "dark"), (768, "light"), (1440, "light")]
AXE = [(360, "dark"), (768, "light")]  # tables scroll in the second; the third window has its elements and its colours
if THOROUGH:
    WINDOWS += [(360, "light"), (768, "dark"), (1440, "dark"), (1920, "light")]
    AXE = WINDOWS
# The buttons at the window's end lie over a row: axe takes its links for small, and a picture shows them in its middle.
UNSTUCK = "document.querySelectorAll('.bulk').forEach(e => { e.style.position = 'static' })"
FINE = {"wide": False, "cut": [], "small": [], "over": [], "right": [], "joined": [], "broken": [], "hides": []}


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_nothing_is_cut_off_and_nobody_kept_out_whatever_the_names(context, width, scheme):
    axe, paths = pytest.importorskip("axe_playwright_python.sync_playwright").Axe(), build()
    page, found = context(width, scheme).new_page(), {}
    for path in paths:
        page.goto(path)
        found[path] = page.evaluate(LOOK)
        page.evaluate(UNSTUCK)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        violations = axe.run(page, options=RULES).response["violations"] if (width, scheme) in AXE else []
        for violation in violations:
            found[path, violation["id"]] = [node["html"][:200] for node in violation["nodes"]]
        shoot(page, f"{path.strip('/').replace('/', '-').replace('?', '-') or 'overview'}-{width}-{scheme}")
    assert {path: what for path, what in found.items() if what != FINE} == {}
    page.goto("jobs/")
    expect(page.locator(".filter input[name=q]")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".bulk")).to_have_css("position", "static")  # or it lies over a row


def test_pages_without_any_work_say_so(context):
    page = context(360).new_page()
    others = ("batches/", "usage/", "webhooks/")
    for path in ("", "tenants/", "queues/", "jobs/", "dead/", "workers/", "schedules/", "health/", *others):
        page.goto(path)
        shoot(page, f"empty-{path.strip('/') or 'overview'}-360")
        expect(page.locator(".empty").first).to_be_visible()
    page.emulate_media(media="print")  # which prints no ground
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    expect(page.locator("html")).to_have_css("color-scheme", "light")
