"""report.html in a real browser: charts, clicks, keys, print, and no network access."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from regatta.judge.analyse import analyse
from regatta.record.read import read
from regatta.record.recordings import STAGES
from regatta.show.build import view_of
from regatta.show.html import to_html
from regatta.show.requests import COLOURS
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_claims import all_kinds

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
STACKS = {
    "iterative": {"i;main (i);f (i)": 30.0, "i;main (i);__x64_sys_read_[k]": 10.0},
    "select": {"s;main (s);f (s)": 20.0, "s;main (s);__x64_sys_select_[k]": 40.0},
}
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
        "engines": {"engines": ["thread", "fork"], "connections": [1, 10]},
        "why": {
            **{"connections": [1, 10], "sampled_blocks": 6, "spent_us": STACKS},
            "waits_us": {"iterative": {"in a queue": 900.0}, "select": {"blocked": 90.0}},
        },
        "hostile": {"contenders": [HOSTILE, "</script>"], "connections": [1, 10]},
    }
    made = {}
    for name, changes in kinds.items():
        folder = tmp_path_factory.mktemp(name)
        reports.write(make(folder / "ledger.sqlite", **changes))
        made[name] = folder / "report.html"
    made["claims"] = tmp_path_factory.mktemp("claims") / "report.html"
    analysis = replace(
        analyse(read(make(made["claims"].with_name("ledger.sqlite"), blocks=2))), claims=all_kinds()
    )
    made["claims"].write_text(to_html(view_of(analysis)))
    return made


@pytest.fixture
def page(
    browser: Browser, pages: dict[str, Path], request: pytest.FixtureRequest
) -> Iterator[Page]:
    """It may complain of nothing, and ask no other machine."""
    kind, width, scheme = getattr(request, "param", ("quick", 1280, "light"))
    opened = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    complaints: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    opened.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(pages[kind].as_uri())
    opened.wait_for_selector("html.drawn")
    yield opened
    assert [said for said in complaints if said.startswith(("error", "warning"))] == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    opened.close()


def visible(page: Page, selector: str) -> list[str]:
    return [
        element.inner_text()
        for element in page.query_selector_all(selector)
        if element.is_visible()
    ]


DRAWN = """() => {
    const charts = [...document.querySelectorAll(".chart")].filter(
        chart => chart.offsetParent && !chart.closest("details:not([open])"));
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


STEPS = "At each number of connections"


def step(page: Page, name: str) -> None:
    page.get_by_role("tablist", name=STEPS).get_by_role("tab", name=name, exact=True).click()


def standings(page: Page) -> str:
    """The visible table of a step."""
    (found,) = [text for text in visible(page, ".panel > .scroll table") if "p99" in text]
    return found


def unfold(page: Page, title: str) -> None:
    page.locator("summary").filter(has_text=re.compile(f"^{title}")).first.click()


def test_a_tab_shows_the_standings_of_its_number_of_connections(page: Page) -> None:
    wait_for_charts(page)
    seen = []
    for name in ("1 connection", "10 connections", "100 connections"):
        step(page, name)
        (sentence,) = [text for text in visible(page, ".panel > p") if "CPU per request" in text]
        assert f"At {name}" in sentence
        seen.append(standings(page))
    assert len(set(seen)) == 3


def test_a_click_on_a_column_title_sorts(page: Page) -> None:
    table = page.locator("table:visible").filter(has_text="p99")
    values = "table => [...table.tBodies[0].rows].map(row => Number(row.children[1].dataset.value))"
    table.locator("thead button").nth(1).click()
    rising = table.evaluate(values)
    assert rising == sorted(rising)
    table.locator("thead button").nth(1).click()
    assert table.evaluate(values) == sorted(rising, reverse=True)
    assert rising != sorted(rising, reverse=True)


def test_what_is_folded_is_drawn_when_it_is_opened(page: Page) -> None:
    assert "task-clock" not in page.inner_text("main")
    unfold(page, "Counters of each cell")
    unfold(page, "select")
    assert "task-clock" in page.inner_text("main")
    unfold(page, "All metrics")
    seen = set()
    shown = "details[open] [role=tabpanel]:not([hidden]) .chart"
    in_sight = f"[...document.querySelectorAll('{shown}')]"
    for side in ("Server", "Client", "Answers"):
        page.get_by_role("tab", name=side, exact=True).click()
        wait_for_charts(page)
        seen.add(tuple(page.evaluate(f"{in_sight}.map(chart => chart.dataset.chart)")))
    assert len(seen) == 3


PAPER_PX = 703
"""Width of A4 without margins, at 96 pixels per inch."""
WIDER = """() => [...document.querySelectorAll("main *")]
    .filter(part => part.getBoundingClientRect().right > innerWidth + 1)
    .map(part => part.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("page", [("engines", PAPER_PX, "dark")], indirect=True)
def test_the_print_has_the_standings_of_all_groups(page: Page) -> None:
    wait_for_charts(page)
    page.emulate_media(media="print", color_scheme="dark")
    assert len([text for text in visible(page, "table") if "p99" in text]) == 4
    assert visible(page, "[role='tab']") == []
    assert page.evaluate(WIDER) == []
    paper = page.pdf(prefer_css_page_size=True)
    sides = re.search(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", paper)
    assert sides
    assert [round(float(side)) for side in sides.groups()] == [595, 842]
    page.emulate_media(media="print", color_scheme="dark")
    for label in page.locator(".role-axis-label text").all()[:5]:
        assert label.evaluate("label => getComputedStyle(label).fill") == "rgb(68, 68, 68)"
    body = "getComputedStyle(document.body)"
    assert page.evaluate(f"[{body}.color, {body}.backgroundColor]") == [
        "rgb(0, 0, 0)",
        "rgb(255, 255, 255)",
    ]


@pytest.mark.parametrize("page", [("hostile", 1280, "light")], indirect=True)
def test_a_hostile_name_is_shown_as_text(page: Page) -> None:
    assert page.title() != "owned"
    assert HOSTILE in standings(page)
    wait_for_charts(page)


WIDTH = "frame => frame.getBoundingClientRect().width"


@pytest.mark.parametrize("page", [("why", 1280, "light")], indirect=True)
def test_an_icicle_is_of_the_chosen_contender_and_searched_and_enlarged(page: Page) -> None:
    step(page, "10 connections")
    unfold(page, "Stacks")
    chart = page.locator("[data-chart^=stacks]:visible")
    frames, names = chart.locator(".mark-rect path"), chart.locator(".mark-text text")
    names.get_by_text("__x64_sys_select").wait_for()
    chart.get_by_label("contender").select_option("iterative")
    names.get_by_text("__x64_sys_read").wait_for()
    assert names.get_by_text("__x64_sys_select").count() == 0
    whole = frames.first.evaluate(WIDTH)
    for gesture, least, most in ((frames.last.click, 0.99, 1.01), (frames.last.dblclick, 0.2, 0.3)):
        gesture()
        page.wait_for_function(
            f"([last, least, most]) => {{ const now = ({WIDTH})(last); "
            "return least < now && now < most; }",
            arg=[frames.last.element_handle(), least * whole, most * whole],
        )
    colours = {frame.get_attribute("fill") for frame in frames.all()}
    chart.get_by_label("colour").select_option(index=1)
    chart.get_by_label("search").fill("SYS_READ")
    found = "document.querySelectorAll('.mark-rect path[opacity=\"1\"]').length"
    page.wait_for_function(f"{found} === 1")
    assert {frame.get_attribute("fill") for frame in frames.all()}.isdisjoint(colours)


@pytest.mark.parametrize("page", [("why", 1280, "dark")], indirect=True)
def test_the_slowest_request_of_the_chosen_contender_is_drawn(page: Page) -> None:
    step(page, "10 connections")
    unfold(page, "The slowest requests")
    chart = page.locator("[data-chart^=slowest]:visible")
    tracks = chart.locator(".role-axis-label text")
    tracks.get_by_text("the request").wait_for()
    assert {*tracks.all_text_contents()} >= {"the request", "server 20", "cron 30"}
    queued, blocked = (
        chart.locator(f'.mark-rect path[fill="{COLOURS[STAGES.index(stage)]}"]')
        for stage in ("in a queue", "blocked")
    )
    for name, shown, hidden in (("iterative", queued, blocked), ("select", blocked, queued)):
        chart.get_by_label("contender").select_option(name)
        shown.first.wait_for()
        assert hidden.count() == 0


@pytest.mark.parametrize("page", [("claims", 1280, "light")], indirect=True)
def test_every_claim_has_its_text_verdict_and_charts(page: Page) -> None:
    cards = page.locator("#claims > details")
    assert cards.count() == len(all_kinds())
    for card, claim in zip(cards.all(), all_kinds(), strict=True):
        assert claim.says in card.inner_text()
        assert card.locator("svg.marks").count() == 0, "hidden charts are drawn"
    page.evaluate("location.hash = 'claim-A1'")
    page.wait_for_function("document.querySelectorAll('#claim-A1 svg.marks').length === 3")
    assert all_kinds()[0].why in cards.first.inner_text()
    marks = "document.querySelectorAll('#claim-A1 .chart')[0].querySelectorAll('.mark-symbol path')"
    before = page.evaluate(f"{marks}.length")
    page.get_by_role("checkbox", name="select").uncheck()
    assert page.evaluate(f"{marks}.length") == before, "a claim keeps all its designs"


@pytest.mark.parametrize(
    "page",
    [
        ("claims", 390, "light"),
        ("engines", 390, "dark"),
    ],
    indirect=True,
)
def test_it_fits_a_phone_in_light_and_dark_mode(page: Page, tmp_path: Path) -> None:
    for folded in page.locator("main > details > summary").all():
        folded.click()
    wait_for_charts(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.screenshot(path=tmp_path / "report.png", full_page=True)
    assert (tmp_path / "report.png").stat().st_size > 50_000
