"""report.html in a real browser: charts, clicks, keys, print, and no network access."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from regatta.analysis.analyse import analyse
from regatta.ledger.read import read
from regatta.report.page.html import to_html
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_claims import all_kinds
from tests.lab.synthetic_held import add_held

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SOME, RANGE = ("iterative", "select"), range(1, 11)
HOSTILE = "<script>document.title='owned'</script>"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: make setup")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of each kind of race."""
    kinds = {
        "quick": {},
        "hardware": {"hardware": True, "counted_blocks": 5},
        "engines": {"engines": ["thread", "fork"], "connections": [1, 10]},
        "workers": {
            "contenders": ["iterative", "prefork-mutex", "select"],
            "pools": {"prefork-mutex"},
            "connections": [10],
            "axis": "workers",
            "steps": [2, 15],
        },
        "client-bound": {"client_bound": {("select", 10, block) for block in range(1, 11)}},
        "disturbed": {
            "disturbed": {(name, at, block) for name in SOME for at in (1, 10) for block in RANGE}
        },
        "hostile": {"contenders": [HOSTILE, "</script>"], "connections": [1, 10]},
    }
    made = {}
    for name, changes in kinds.items():
        folder = tmp_path_factory.mktemp(name)
        reports.write(make(folder / "ledger.sqlite", **changes))
        made[name] = folder / "report.html"
    made["held"] = tmp_path_factory.mktemp("held") / "report.html"
    reports.write(add_held(make(made["held"].with_name("ledger.sqlite"), blocks=2)))
    made["claims"] = tmp_path_factory.mktemp("claims") / "report.html"
    analysis = replace(
        analyse(read(make(made["claims"].with_name("ledger.sqlite"), blocks=2))), claims=all_kinds()
    )
    made["claims"].write_text(to_html(analysis))
    return made


class Opened:
    """A page with its console messages and requests."""

    def __init__(self, browser: Browser, path: Path, width: int, scheme: str) -> None:
        self.page: Page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        self.complaints: list[str] = []
        self.fetched: list[str] = []
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._on_request)
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html.drawn")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.fetched.append(request.url)


@pytest.fixture
def opened(
    browser: Browser, pages: dict[str, Path], request: pytest.FixtureRequest
) -> Iterator[Opened]:
    kind, width, scheme = getattr(request, "param", ("quick", 1280, "light"))
    page = Opened(browser, pages[kind], width, scheme)
    yield page
    assert page.complaints == [], page.complaints
    assert page.fetched == []
    page.page.close()


def visible(page: Page, selector: str) -> list[str]:
    return [
        element.inner_text()
        for element in page.query_selector_all(selector)
        if element.is_visible()
    ]


DRAWN = """() => {
    const charts = [...document.querySelectorAll(".chart")].filter(chart => chart.offsetParent);
    return charts.length > 0 && charts.every(chart => {
        const svg = chart.querySelector("svg");
        const box = svg && svg.getBoundingClientRect();
        const marks = chart.querySelectorAll(".mark-line path, .mark-symbol path");
        return box && box.width > 150 && box.height > 60 && marks.length > 0;
    });
}"""


def wait_for_charts(page: Page) -> None:
    """Waits until every visible chart has an SVG with marks."""
    page.wait_for_function(DRAWN, timeout=20_000)


def test_the_charts_of_every_tab_are_drawn(opened: Opened) -> None:
    page = opened.page
    in_sight = "[...document.querySelectorAll('.chart')].filter(c => c.offsetParent)"
    wait_for_charts(page)
    seen = set()
    for label in ("Server", "Client", "Answers", "Server"):
        page.get_by_role("tab", name=label, exact=True).click()
        wait_for_charts(page)
        seen.add(tuple(page.evaluate(f"{in_sight}.map(chart => chart.dataset.chart)")))
    assert len(seen) == 3


def test_a_tab_shows_the_standings_of_its_number_of_connections(opened: Opened) -> None:
    page = opened.page
    tabs = page.get_by_role("tablist", name="Number of connections").first
    seen = []
    for name in ("1 connection", "10", "100"):
        tabs.get_by_role("tab", name=name, exact=True).click()
        (standings,) = visible(page, "table.standings")
        (sentence,) = visible(page, ".sentence")
        assert f"At {name.split()[0]} connection" in sentence
        seen.append(standings)
    assert len(set(seen)) == 3


def test_tabs_react_to_the_arrow_keys(opened: Opened) -> None:
    page = opened.page
    tabs = page.get_by_role("tablist", name="Number of connections").first
    tabs.get_by_role("tab", name="1 connection").focus()
    page.keyboard.press("ArrowRight")
    assert tabs.get_by_role("tab", name="10", exact=True).get_attribute("aria-selected") == "true"
    page.keyboard.press("End")
    assert tabs.get_by_role("tab", name="100", exact=True).get_attribute("aria-selected") == "true"


def test_a_click_on_a_column_title_sorts(opened: Opened) -> None:
    page = opened.page
    names = "document.querySelectorAll('table.standings')[0].tBodies[0].rows"
    values = f"[...{names}].map(row => Number(row.children[1].dataset.value))"
    button = page.locator("table.standings").first.locator("thead button").nth(1)
    button.click()
    rising = page.evaluate(values)
    assert rising == sorted(rising)
    button.click()
    assert page.evaluate(values) == sorted(rising, reverse=True)
    assert rising != sorted(rising, reverse=True)


def test_a_cell_can_be_chosen_for_its_counters(opened: Opened) -> None:
    page = opened.page
    (before,) = visible(page, ".cell h3")
    assert before == "iterative, 1 connection"
    page.locator(".cell-contender").select_option(label="select")
    page.locator(".cell-step").select_option("100")
    (after,) = visible(page, ".cell h3")
    assert after == "select, 100 connections"
    (table,) = visible(page, "table.counters")
    assert "context-switches" in table


def test_unsupported_counters_are_collapsed_to_one_line(opened: Opened) -> None:
    page = opened.page
    (table,) = visible(page, "table.counters")
    assert "instructions" not in table
    folded = page.locator("details.absent:visible")
    assert folded.inner_text().strip() == "12 counters not supported by this machine"
    folded.locator("summary").click()
    assert "instructions" in folded.inner_text()


@pytest.mark.parametrize("opened", [("disturbed", 1280, "light")], indirect=True)
def test_a_long_list_is_collapsed_and_its_notice_opens_it(opened: Opened) -> None:
    page = opened.page
    section = page.locator("#disturbed")
    assert section.locator("summary").inner_text() == "40 disturbed trials"
    assert not section.locator("table").is_visible()
    page.locator(".notice a[href='#disturbed']").click()
    section.locator("table").wait_for(state="visible")
    assert section.locator("tbody tr").count() == 40


PAPER_PX = 703
"""Width of A4 without margins, at 96 pixels per inch."""
WIDER = """() => [...document.querySelectorAll("main *")]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
    .map(one => one.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("opened", [("engines", PAPER_PX, "dark")], indirect=True)
def test_the_print_has_the_standings_of_all_groups_and_the_charts_of_one(
    opened: Opened,
) -> None:
    page = opened.page
    wait_for_charts(page)
    page.emulate_media(media="print", color_scheme="dark")
    assert len(visible(page, "table.standings")) == 4
    assert visible(page, ".group-title") == ["engine thread", "engine fork"]
    steps = ["1 connection", "10 connections"]
    assert visible(page, ".group[data-group='g1'] .panel-title") == steps
    assert visible(page, "select, [role='tab']") == []
    drawn = page.locator(".chart:visible")
    assert drawn.count() == drawn.locator("svg.marks").count() > 5
    assert page.locator(".group[data-group='g1'] .chart:visible").count() == 0
    assert page.evaluate(WIDER) == []


@pytest.mark.parametrize("opened", [("quick", 1280, "dark")], indirect=True)
def test_the_print_is_a4_and_white_even_in_dark_mode(opened: Opened) -> None:
    page = opened.page
    wait_for_charts(page)
    paper = page.pdf(prefer_css_page_size=True)
    sides = re.search(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", paper)
    assert sides
    assert [round(float(side)) for side in sides.groups()] == [595, 842]
    page.emulate_media(media="print", color_scheme="dark")
    colour = "one => getComputedStyle(one).fill"
    for label in page.locator(".role-axis-label text").all()[:5]:
        assert label.evaluate(colour) == "rgb(68, 68, 68)"
    body = "getComputedStyle(document.body)"
    assert page.evaluate(f"[{body}.color, {body}.backgroundColor]") == [
        "rgb(0, 0, 0)",
        "rgb(255, 255, 255)",
    ]


def test_the_latency_chart_follows_its_tab(opened: Opened) -> None:
    page = opened.page
    tabs = page.get_by_role("tablist", name="Number of connections").nth(1)
    tabs.get_by_role("tab", name="100", exact=True).click()
    wait_for_charts(page)
    assert page.locator("[data-chart='g0-latency-100'] svg.marks").is_visible()
    assert not page.locator("[data-chart='g0-latency-1']").is_visible()


def test_a_design_can_be_removed_from_the_charts(opened: Opened) -> None:
    page = opened.page
    lines = "document.querySelectorAll('.chart svg')[0].querySelectorAll('.mark-line path').length"
    assert page.evaluate(lines) == 3
    page.get_by_role("checkbox", name="select").uncheck()
    page.wait_for_function(f"{lines} === 2")


@pytest.mark.parametrize("opened", [("hostile", 1280, "light")], indirect=True)
def test_a_hostile_name_is_shown_as_text(opened: Opened) -> None:
    assert opened.page.title() != "owned"
    assert any(HOSTILE in text for text in visible(opened.page, "table.standings"))
    wait_for_charts(opened.page)


@pytest.mark.parametrize("opened", [("engines", 1280, "light")], indirect=True)
def test_every_group_of_cells_can_be_chosen(opened: Opened) -> None:
    page = opened.page
    before = visible(page, "table.standings")
    page.locator("#group-select").select_option(index=1)
    after = visible(page, "table.standings")
    assert len(before) == len(after) == 1
    assert before != after
    wait_for_charts(page)


@pytest.mark.parametrize("opened", [("workers", 1280, "light")], indirect=True)
def test_the_tabs_are_what_the_study_varies(opened: Opened) -> None:
    page = opened.page
    tabs = page.get_by_role("tablist", name="Number of workers").first
    tabs.get_by_role("tab", name="15", exact=True).click()
    (sentence,) = visible(page, ".sentence")
    assert sentence.startswith("With 15 workers")
    (each,) = visible(page, "details summary:has-text('Each of 15 workers')")
    assert each == "Each of 15 workers, the busiest first"
    page.locator(".cell-step").select_option("15")
    assert visible(page, ".cell h3") == ["iterative"]
    wait_for_charts(page)


@pytest.mark.parametrize("opened", [("client-bound", 1280, "light")], indirect=True)
def test_a_client_bound_cell_is_marked_and_has_no_ratio(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("tab", name="10", exact=True).first.click()
    row = page.locator("table.standings:visible tr", has_text="select")
    assert "10 client-bound" in row.inner_text()
    level = row.locator("td").first.inner_text().strip()
    assert re.fullmatch(r"\d+\n\d+–\d+", level), "a ratio is shown"
    assert row.locator("td").last.inner_text().strip() == "client-bound"
    assert page.locator("#client-bound table tbody tr").count() == 10


@pytest.mark.parametrize("opened", [("hardware", 1280, "light")], indirect=True)
def test_hardware_counters_have_charts(opened: Opened) -> None:
    captions = " ".join(visible(opened.page, "figcaption"))
    assert "instructions per cycle" in captions
    assert "top-down: retiring" in captions


@pytest.mark.parametrize("opened", [("claims", 1280, "light")], indirect=True)
def test_every_claim_has_its_text_verdict_and_charts(opened: Opened) -> None:
    page = opened.page
    assert page.locator(".facts a[href='#claims']").inner_text().startswith("6 claims: 2 supported")
    cards = page.locator("details.claim")
    assert cards.count() == len(all_kinds())
    for card, claim in zip(cards.all(), all_kinds(), strict=True):
        for text in (claim.says, claim.why, claim.verdict):
            assert text in card.inner_text()
        assert card.locator("svg.marks").count() == 0, "hidden charts are drawn"
    cards.first.locator("summary").click()
    page.wait_for_function("document.querySelectorAll('#claim-A1 svg.marks').length === 3")
    drawn = cards.first.locator(".charts").inner_text()
    assert "306.78" in drawn
    assert "713 (699–727)" in drawn
    assert "as they measured it held in 3 of 8 single runs" in cards.first.inner_text()


@pytest.mark.parametrize("opened", [("claims", 1280, "dark")], indirect=True)
def test_all_charts_of_claims_can_be_shown_and_hidden(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("button", name="Show all pictures").click()
    page.wait_for_function(
        "[...document.querySelectorAll('.claim .chart')].every(c => c.querySelector('svg.marks'))"
    )
    assert page.locator("#claim-A4 .missing").first.inner_text() == "not supported"
    wait_for_charts(page)
    page.get_by_role("button", name="Hide all pictures").click()
    assert not page.locator("#claim-A1 svg.marks").first.is_visible()


@pytest.mark.parametrize("opened", [("claims", 1280, "light")], indirect=True)
def test_a_link_to_a_claim_opens_it(opened: Opened) -> None:
    page = opened.page
    page.evaluate("location.hash = 'claim-B1'")
    page.wait_for_function("document.querySelectorAll('#claim-B1 svg.marks').length === 2")


@pytest.mark.parametrize("opened", [("claims", 1280, "light")], indirect=True)
def test_a_claim_keeps_all_its_designs(opened: Opened) -> None:
    page = opened.page
    page.evaluate("location.hash = 'claim-A1'")
    page.wait_for_function("document.querySelectorAll('#claim-A1 svg.marks').length === 3")
    page.get_by_role("checkbox", name="select").uncheck()
    page.wait_for_timeout(300)
    marks = "document.querySelectorAll('#claim-A1 .chart:first-of-type .mark-symbol path').length"
    assert page.evaluate(marks) == 9


@pytest.mark.parametrize(
    "opened",
    [
        ("claims", 390, "light"),
        ("quick", 390, "light"),
        ("quick", 390, "dark"),
        ("engines", 390, "light"),
        ("quick", 1280, "dark"),
    ],
    indirect=True,
)
def test_it_fits_a_phone_in_light_and_dark_mode(opened: Opened, tmp_path: Path) -> None:
    page = opened.page
    if page.locator("#open-claims").count():
        page.locator("#open-claims").click()
    wait_for_charts(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.screenshot(path=tmp_path / "report.png", full_page=True)
    assert (tmp_path / "report.png").stat().st_size > 50_000


@pytest.mark.parametrize("opened", [("held", 1280, "light"), ("held", 400, "dark")], indirect=True)
def test_the_knee_is_drawn_with_a_line_for_each_contender(opened: Opened) -> None:
    for name in ("knee-p50", "knee-p99"):
        lines = opened.page.locator(f'[data-chart="{name}"] svg g.mark-line path')
        lines.first.wait_for(state="attached")
        assert lines.count() == 3
    assert opened.complaints == []
