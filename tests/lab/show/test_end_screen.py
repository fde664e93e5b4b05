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
from regatta.judge.results import Analysis
from regatta.judge.soundness.barred import ContenderWarmUp
from regatta.judge.standings import LARGER, NO_DIFFERENCE
from regatta.judge.statistics.leads import RankConflict
from regatta.record.metrics import PRIMARY
from regatta.show.build import view_of
from regatta.show.markdown import to_markdown
from regatta.show.notes import NOTES, notes
from regatta.show.numbers import TOO_FEW_TO_SAY, around, ratio_around
from regatta.show.terminal import LINES, PROMPT_LINES, print_screen
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


def test_a_row_is_a_design_and_a_column_a_work_and_a_number_of_connections(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path)
    text = printed(analysis)
    assert re.search(r"^ +work classic +work snapshot$", text, re.MULTILINE)
    assert re.search(r"^connections +1 +10 +100 +1 +10 +100$", text, re.MULTILINE)
    places = [(group, step) for group in analysis.groups for step in group.steps]
    for design in DESIGNS:
        (row,) = re.findall(rf"^{design} +(.*)$", text, re.MULTILINE)
        figures = re.findall(r"[★☆]?(1|[\d.,]+±[\d.,]+)(?: |$)", row)
        beside = [
            next((one for one in group.against if _is_of(one, design, step)), None)
            for group, step in places
        ]
        assert figures == ["1" if one is None else "±".join(ratio_around(one)) for one in beside]
    assert len(re.findall(r"[★☆]\d", text)) >= 6
    for group in analysis.groups:
        assert f"{group.title}: {headline(group)}"[:60] in text
    (levels,) = re.findall(r"^1, in µs +(.*)$", text, re.MULTILINE)
    best = [
        result.estimates["server", PRIMARY.name]
        for group, step in places
        for result in group.at(step)
        if not any(_is_of(one, result.cell.contender, step) for one in group.against)
    ]
    assert re.findall(r"([\d.,]+)±([\d.,]+)", levels) == [around(one) for one in best]
    assert "µs: this machine, this hour only" in " ".join(text.split())


def _is_of(one: AgainstBest, contender: str, step: int) -> bool:
    return (one.contender, one.at, one.metric) == (contender, step, PRIMARY.name)


@pytest.mark.parametrize("changes", [{"blocks": 3}, {"contenders": ["alone"]}])
def test_without_comparisons_the_table_has_levels(tmp_path: Path, changes: dict[str, Any]) -> None:
    text = printed(analysis_of(tmp_path, **changes))
    assert "Server CPU per request, µs ± its 95 % interval" in text
    assert re.search(r"\d±\d", text)
    assert "1, in µs" not in text


@pytest.mark.parametrize(("low", "says"), [(1.1, " (over 1.10)"), (1e-9, "")])
def test_an_unbounded_end_of_a_lead_is_not_printed(tmp_path: Path, low: float, says: str) -> None:
    analysis = analysis_of(tmp_path)
    group = analysis.groups[0]
    lead = {"lead": Interval(1.5, low, math.exp(50))}
    verdict = replace(group.overall, outcome=LARGER, front="select", **lead)
    one = replace(group, overall=verdict)
    text = " ".join(printed(replace(analysis, groups=[one])).split())
    assert f"takes 1.50 times as much{says} Server" in text
    sentence = verdict_sentence(one, verdict)
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
    names = [f"contender-{number}" for number in range(20)]
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


def test_claims_are_one_line_that_counts_them(tmp_path: Path) -> None:
    lines = printed(replace(analysis_of(tmp_path), claims=all_kinds())).splitlines()
    (line,) = (line for line in lines if "claim" in line)
    assert line == "6 claims: 2 supported, 2 refuted, 1 undecided and 1 not measurable here."


def test_a_quick_race_says_what_it_cannot_decide(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path)
    quick = replace(analysis, meta=analysis.meta | {"quick": "yes"})
    (note,) = notes(quick)
    assert note.line == "A first look detects only large differences: leave out --quick"
    few = [claim(name, "So it is.", TOO_FEW) for name in "abc"]
    (note,) = notes(replace(quick, claims=[*few, *all_kinds()]))
    assert note.line == "3 claims cannot be decided in a first look: leave out --quick"
    running = replace(quick, claims=few, planned=quick.trials + 1)
    assert [note.line for note in notes(running) if "claim" in note.line] == [], "not yet known"
    assert notes(replace(analysis, claims=few)) == [], "not every short race is a first look"


def test_different_clock_speeds_are_the_first_warning(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path)
    (first, *others) = analysis.groups
    inverted = replace(first, inversions=[RankConflict(1, "select", "iterative", 1.2, 0.8)])
    quick = analysis.meta | {"quick": "yes"}
    told = notes(replace(analysis, meta=quick, groups=[inverted, *others]))
    assert [note.line.split()[0] for note in told] == ["Clock", "A"]


def test_disturbed_trials_that_were_repeated_are_no_warning(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, disturbed={("select", 10, 2), ("select", 10, 3)})
    again = [replace(one, trial=replace(one.trial, superseded=True)) for one in analysis.disturbed]
    calm = replace(analysis, disturbed=again)
    (told,) = notes(calm)
    assert (told.line, told.sentence[:19]) == ("", "4 trials disturbed:")
    assert "disturbed" not in printed(calm)


def test_every_warning_is_one_line_with_a_remedy(tmp_path: Path) -> None:
    analysis = analysis_of(
        tmp_path,
        disturbed={("select", 10, 2)},
        fail={("iterative", 1, 2)},
        fail_reason="it burst\ninto flames " * 9,
        client_bound={("thread-per-client", 10, 3)},
        environment={"left_out": {"uring": "no io_uring"}},
    )
    lines = [note.line for note in notes(analysis) if note.line]
    wanted = (
        "it burst into …: report.html says why",
        "offer at most",
        "stop other programs",
        "uring: `regatta doctor`",
    )
    for line, words in zip(lines, wanted, strict=True):
        assert words in line
    text = printed(analysis)
    assert [line in text for line in lines] == [True, True, True, False]
    assert "1 more note in the report" in text


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
    otherwise = [RankConflict(1, names[0], name, 1.2, 0.8) for name in names[1:]]
    conflicts = dict.fromkeys(("contradictions", "unconfirmed", "inversions"), otherwise)
    groups = [
        replace(group, cells=[replace(one, started=0.98765) for one in group.cells], **conflicts)
        for group in analysis.groups
    ]
    more = {"groups": groups, "warm_ups": cold(*names), "planned": analysis.trials + 1}
    found = notes(replace(analysis, **more))
    # Not quick; none repeated, timed by a canary or alone; no timer waited for; three ask nothing.
    nameless = 8
    assert len(found) == len(NOTES) - nameless
    for note in found:
        assert note.do
        assert note.line.endswith(f": {note.do}")
        assert note.line.isprintable()
        assert len(note.do) + 20 < len(note.line) <= COLUMNS, "and what is wrong is there, too"


def test_what_is_wrong_names_the_contenders_before_the_cut(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path)
    not_warm = cold("iterative", "prefork-fdpass", "prethread-queue")
    (note,) = notes(replace(analysis, warm_ups=not_warm))
    assert note.line.startswith("Not warm: iterative, prefork-fdpass")
    first, *others = analysis.groups[0].cells
    slow = replace(analysis.groups[0], cells=[replace(first, started=0.29), *others])
    (note,) = notes(replace(analysis, groups=[slow, *analysis.groups[1:]]))
    assert note.line.startswith("iterative does not hold the rate: started 29 % of due requests")
    assert note.line.endswith("lower the rate")


def test_a_headline_without_a_winner_names_the_rivals(tmp_path: Path) -> None:
    (group, *_) = analysis_of(tmp_path).groups
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
