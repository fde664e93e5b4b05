"""The screen at the end of a race: its size, its text in a log, and its warnings."""

import io
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from regatta.judge.claims.result import TOO_FEW
from regatta.judge.columns import AgainstBest
from regatta.judge.interval import Interval
from regatta.judge.results import Analysis, UnconfirmedLead
from regatta.judge.soundness.barred import ContenderWarmUp
from regatta.judge.standings import LARGER, NO_DIFFERENCE
from regatta.record.metrics import PRIMARY
from regatta.show.build import view_of
from regatta.show.markdown import to_markdown
from regatta.show.notes import NOTES, notes
from regatta.show.numbers import TOO_FEW_TO_SAY, around, ratio_around
from regatta.show.terminal import LINES, MOST_ROWS, PROMPT_LINES, print_screen
from regatta.show.verdicts import headline, verdict_sentence
from regatta.verbs.session import RaceSession, show_results
from tests.lab import reports
from tests.lab.designs import every_design
from tests.lab.synthetic import make
from tests.lab.synthetic_claims import all_kinds, claim
from tests.ledgers import change

COLUMNS = 80
LONG = pytest.mark.long
QUICK: dict[str, Any] = {"works": ["classic", "snapshot"], "counted_blocks": 0, "blocks": 6}
DESIGNS = ("iterative", "thread-per-client", "select")
BLOCKS = range(1, 7)
BOUND = {("select", at, block) for at in (1, 10, 100) for block in BLOCKS}
HOSTILE = "\x1b[31mred\nline [bold]<b>"

OUTCOMES: dict[str, dict[str, Any]] = {
    "a winner": {},
    "ties": {"cpu_us": dict.fromkeys(DESIGNS, 600.0)},
    "much noise": {"noise": 0.5},
    "two blocks": {"blocks": 2},
    "no block": {"blocks": 0},
    "failures": {"fail": {("select", at, block) for at in (1, 10) for block in BLOCKS}},
    "client-bound": {"client_bound": BOUND},
    "all wrong at once": {
        "fail": {("iterative", 1, block) for block in BLOCKS},
        "fail_reason": "the server said a great deal " * 20,
        "client_bound": {("select", 10, block) for block in BLOCKS},
        "disturbed": {("thread-per-client", 100, block) for block in BLOCKS},
        "environment": {"left_out": {"uring": "the kernel has no io_uring", "reactors": "no"}},
    },
    "huge figures": {"cpu_us": {"iterative": 9.9e6, "thread-per-client": 1.2e7, "select": 3e5}},
    "long names": {"contenders": [letter * 64 for letter in "abc"]},
    "wide letters": {"contenders": ["速" * 30, "競" * 12, "ok"]},
    "hostile names": {"contenders": [HOSTILE, "</script>", "a\tb\u202ec"]},
}


def analysis_of(folder: Path, **changes: Any) -> Analysis:
    path = folder / "ledger.sqlite"
    path.unlink(missing_ok=True)
    return reports.analysed(make(path, **{**QUICK, **changes}))


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analysis_of(tmp_path_factory.mktemp("quick"))


def printed(analysis: Analysis, width: int = COLUMNS, **console: Any) -> str:
    return reports.printed(print_screen, view_of(analysis), width=width, **console)


def cold(*names: str) -> list[ContenderWarmUp]:
    return [
        ContenderWarmUp(name, "/", "open", "never steady", 9, 3.0, 9, 9, None, ()) for name in names
    ]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=LONG) for seed in (2, 3))])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_quick_race_fits_eighty_columns_and_twenty_four_lines(
    tmp_path: Path, outcome: str, seed: int
) -> None:
    """In a log as on a terminal."""
    analysis = analysis_of(tmp_path, **OUTCOMES[outcome], seed=seed)
    log = printed(analysis)
    lines = log.splitlines()
    assert len(lines) + PROMPT_LINES <= LINES == 24
    assert all(line.isprintable() for line in lines)
    terminal = printed(analysis, force_terminal=True, color_system="truecolor")
    assert "\x1b[" in terminal
    assert re.sub(r"\x1b\[[\d;]*m", "", terminal) == log
    assert max(map(cell_len, lines)) <= COLUMNS


@pytest.mark.parametrize("outcome", ["a winner", "all wrong at once", "long names"])
def test_a_narrow_terminal_breaks_no_row(tmp_path: Path, outcome: str) -> None:
    analysis = analysis_of(tmp_path, **OUTCOMES[outcome])
    for width in (20, 33, 40, 60, 79, 100, 200):
        lines = printed(analysis, width).splitlines()
        assert max(map(cell_len, lines)) <= width
        assert any("±" in line for line in lines)


def test_a_row_is_a_design_and_a_column_a_work_and_a_number_of_connections(
    quick: Analysis,
) -> None:
    analysis = quick
    text = printed(analysis)
    assert re.search(r"^ +work classic +work snapshot$", text, re.MULTILINE)
    assert re.search(r"^connections +1 +10 +100 +1 +10 +100$", text, re.MULTILINE)
    places = [(group, step) for group in analysis.groups for step in group.steps]
    for design in DESIGNS:
        (row,) = re.findall(rf"^{design} +(.*)$", text, re.MULTILINE)
        figures = re.findall(r"[★☆]?(1|[\d.,]+±[\d.,]+)(?: |$)", row)
        beside = [
            next((rival for rival in group.against if _is_of(rival, design, step)), None)
            for group, step in places
        ]
        assert figures == [
            "1" if rival is None else "±".join(ratio_around(rival)) for rival in beside
        ]
    assert len(re.findall(r"[★☆]\d", text)) >= 6
    for group in analysis.groups:
        assert f"{group.title}: {headline(group)}"[:60] in text
    (levels,) = re.findall(r"^1, in µs +(.*)$", text, re.MULTILINE)
    best = [
        result.estimates["server", PRIMARY.name]
        for group, step in places
        for result in group.at(step)
        if not any(_is_of(rival, result.cell.contender, step) for rival in group.against)
    ]
    assert re.findall(r"([\d.,]+)±([\d.,]+)", levels) == [around(level) for level in best]
    assert "µs: this machine, this hour only" in " ".join(text.split())


def _is_of(rival: AgainstBest, contender: str, step: int) -> bool:
    return (rival.contender, rival.at, rival.metric) == (contender, step, PRIMARY.name)


@pytest.mark.parametrize("changes", [{"blocks": 3}, {"contenders": ["alone"]}])
def test_without_comparisons_the_table_has_levels(tmp_path: Path, changes: dict[str, Any]) -> None:
    text = printed(analysis_of(tmp_path, **changes))
    assert "Server CPU per request, µs ± its 95 % interval" in text
    assert re.search(r"\d±\d", text)
    assert "1, in µs" not in text


@pytest.mark.parametrize(("low", "says"), [(1.1, " (over 1.10)"), (1e-9, "")])
def test_an_unbounded_end_of_a_lead_is_not_printed(quick: Analysis, low: float, says: str) -> None:
    group = quick.groups[0]
    lead = Interval(1.5, low, math.exp(50))
    verdict = replace(group.overall, outcome=LARGER, front="select", lead=lead)
    led = replace(group, overall=verdict)
    text = " ".join(printed(replace(quick, groups=[led])).split())
    assert f"takes 1.50 times as much{says} Server" in text
    sentence = verdict_sentence(led, verdict)
    assert f"(95 % interval {says.strip(' ()') or TOO_FEW_TO_SAY})" in sentence


class Ascii(io.StringIO):
    encoding = "ascii"


def test_an_ascii_terminal_gets_substitutes(tmp_path: Path) -> None:
    out = Ascii()
    print_screen(
        view_of(analysis_of(tmp_path, contenders=["速", *DESIGNS])), Console(file=out, width=80)
    )
    out.getvalue().encode("ascii")
    assert re.search(r"\*1( |$)", out.getvalue(), re.MULTILINE)
    assert re.search(r" 1\.\d\d\+-\.\d", out.getvalue())


def test_a_long_verdict_is_cut_on_the_screen_and_whole_on_the_page(
    tmp_path: Path,
) -> None:
    view = view_of(analysis_of(tmp_path, connections=[10]))
    said = " ".join(["many words"] * 40)
    long = replace(view, screen=replace(view.screen, verdicts=(said,)))
    text = reports.printed(print_screen, long, width=COLUMNS)
    shown, cut, _ = " ".join(text.split()).partition(" …")
    assert cut
    assert 1.5 * COLUMNS < len(shown) < 2 * COLUMNS
    assert said in to_markdown(long)


def test_many_groups_and_designs_are_cut_with_a_count(tmp_path: Path) -> None:
    names = [design.name for design in every_design()]
    costs = {name: 500.0 + 20 * at for at, name in enumerate(names)}
    text = printed(
        analysis_of(tmp_path, contenders=names, works=[*"abcdef"], cpu_us=costs, blocks=3)
    )
    for name in names:
        assert len(re.findall(rf"^{name} +", text, re.MULTILINE)) == 1
    assert "2 more tables in the report" in text
    assert "2 more groups of cells in the report" in text
    assert len(text.splitlines()) <= 2 * LINES
    names = [f"contender-{number}" for number in range(MOST_ROWS + 3)]
    text = printed(analysis_of(tmp_path, contenders=names, connections=[1], blocks=3))
    assert "and 3 more in the report" in text


def test_what_cannot_be_compared_has_a_figure_but_no_star_and_what_is_unknown_a_word(
    tmp_path: Path,
) -> None:
    text = printed(analysis_of(tmp_path, client_bound=BOUND))
    (row,) = re.findall(r"^select  +.*$", text, re.MULTILINE)
    assert len(re.findall(r"\?\d", row)) == 6
    assert not set("★☆") & set(text)
    assert "? may be as good" in text
    assert re.search(r"Client-bound in 36 of 108 trials, select: offer at most [\d,]+/s", text)
    text = printed(analysis_of(tmp_path, fail={("select", 10, block) for block in BLOCKS}))
    (row,) = re.findall(r"^select  +.*$", text, re.MULTILINE)
    assert row.split().count("failed") == 2


def meant(analysis: Analysis, **changes: Any) -> Analysis:
    """The same race with other properties, those of its first group among them."""
    of_group = {name: changes.pop(name) for name in [*changes] if name in vars(analysis.groups[0])}
    first, *others = analysis.groups
    changes["meta"] = analysis.meta | changes.pop("meta", {})
    return replace(analysis, groups=[replace(first, **of_group), *others], **changes)


FEW = [claim(name, "So it is.", TOO_FEW) for name in "abc"]
FIRST_LOOK = {"meta": {"quick": "yes"}}
DOUBTED = [UnconfirmedLead(1, "select", "iterative", 1.2, 0.8)]
LARGE = "A first look detects only large differences: leave out --quick"
LOST = "3 claims cannot be decided in a first look: leave out --quick"
UNFINISHED = "Not finished, 108 of 109 trials: resume it"
BUSY = "CPU busy does not show the lead of select over iterative: see CPU accounting"
COLD = "Not warm: iterative, prefork-fdpass, prethread-queue: raise the warm-up limit"


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        (FIRST_LOOK, [LARGE]),
        ({**FIRST_LOOK, "claims": [*FEW, *all_kinds()]}, [LOST]),
        # While it runs, what it decides is not yet known.
        ({**FIRST_LOOK, "claims": FEW, "planned": 109}, [LARGE, UNFINISHED]),
        # Not every short race is a first look.
        ({"claims": FEW}, []),
        ({**FIRST_LOOK, "unconfirmed": DOUBTED}, [LARGE, BUSY]),
        ({"warm_ups": cold("iterative", "prefork-fdpass", "prethread-queue")}, [COLD]),
    ],
)
def test_the_lines_of_the_notes(quick: Analysis, changes: dict[str, Any], lines: list[str]) -> None:
    assert [note.line for note in notes(meant(quick, **changes))] == lines


def test_a_slow_contender_is_named_with_a_remedy(quick: Analysis) -> None:
    first, *others = quick.groups[0].cells
    (note,) = notes(meant(quick, cells=[replace(first, started=0.29), *others]))
    assert note.line.startswith("iterative does not hold the rate: started 29 % of due requests")
    assert note.line.endswith("lower the rate")


def test_claims_are_one_line_that_counts_them(quick: Analysis) -> None:
    lines = printed(replace(quick, claims=all_kinds())).splitlines()
    assert "6 claims: 2 supported, 2 refuted, 1 undecided and 1 not measurable here." in lines


def test_disturbed_trials_that_were_repeated_are_no_warning(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, disturbed={("select", 10, 2), ("select", 10, 3)})
    again = [replace(of, trial=replace(of.trial, superseded=True)) for of in analysis.disturbed]
    calm = replace(analysis, disturbed=again)
    (note,) = notes(calm)
    assert (note.line, note.sentence[:19]) == ("", "4 trials disturbed:")
    assert "disturbed" not in printed(calm)


def test_a_remedy_is_never_cut(tmp_path: Path) -> None:
    """All that can be wrong with each design."""
    names = [design.name for design in every_design()]
    analysis = analysis_of(
        tmp_path,
        contenders=names,
        works=["scan"],
        connections=[1],
        disturbed={(name, 1, 1) for name in names},
        fail={(name, 1, 2) for name in names},
        client_bound={(name, 1, block) for name in names for block in (3, 4, 5, 6)},
        environment={"left_out": dict.fromkeys(names, "no io_uring")},
    )
    doubted = [UnconfirmedLead(1, names[0], name, 1.2, 0.8) for name in names[1:]]
    groups = [
        replace(
            group,
            cells=[replace(result, started=0.98765) for result in group.cells],
            unconfirmed=doubted,
        )
        for group in analysis.groups
    ]
    more = {"groups": groups, "warm_ups": cold(*names), "planned": analysis.trials + 1}
    found = notes(replace(analysis, **more))
    # Not quick; none timed by a canary or alone; no timer waited for; three ask nothing.
    nameless = 7
    assert len(found) == len(NOTES) - nameless
    for note in found:
        assert note.do
        assert note.line.endswith(f": {note.do}")
        assert note.line.isprintable()
        assert len(note.do) + 20 < len(note.line) <= COLUMNS, "and what is wrong is there, too"
    text = printed(replace(analysis, **more))
    assert [note.line in text for note in found] == [True] * 3 + [False] * (len(found) - 3)
    assert f"{len(found) - 3} more notes in the report" in text


def test_a_headline_without_a_winner_names_the_rivals(quick: Analysis) -> None:
    group = quick.groups[0]
    tied = replace(group.overall, outcome=NO_DIFFERENCE, best=("select", "iterative"), rivals={})
    says = "select and iterative are not distinguishable"
    assert headline(replace(group, overall=tied)) == says
    beside = replace(tied, rivals={"epoll": "client-bound", "poll": "failed"})
    rivals = f"{says}, and epoll and poll may be as good"
    assert headline(replace(group, overall=beside)) == rivals


def test_an_unfinished_race_says_how_to_continue(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", **QUICK)
    whole = reports.analysed(path)
    change(path, "DELETE FROM trial WHERE block > 4")
    part = reports.analysed(path)
    assert "Not finished, 72 of 108 trials: resume it" in printed(part)
    session = RaceSession(as_json=False, quiet=True)
    folder = tmp_path / "my race"
    folder.mkdir()
    for analysis, is_told in ((part, True), (whole, False)):
        with session.console.capture() as captured:
            show_results(analysis, folder, session)
        assert (f" race --resume '{folder}'\n" in captured.get()) == is_told
