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
from regatta.judge.estimates import Estimate
from regatta.judge.results import Analysis
from regatta.judge.soundness.warmup import ContenderWarmUp
from regatta.judge.standings import LARGER, NO_DIFFERENCE
from regatta.judge.statistics.leads import RankConflict
from regatta.record.metrics import PRIMARY
from regatta.show.build import view_of
from regatta.show.notes import NOTES, notes
from regatta.show.numbers import TOO_FEW_TO_SAY, around, between, more_than_one, ratio_around
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
HOSTILE = "\x1b[31mred\nline [bold]<b>"

OUTCOMES: dict[str, dict[str, Any]] = {
    "a winner": {},
    "ties": {"cpu_us": dict.fromkeys(DESIGNS, 600.0)},
    "much noise": {"noise": 0.5},
    "two blocks": {"blocks": 2},
    "no block": {"blocks": 0},
    "failures": {"fail": {("select", at, block) for at in (1, 10) for block in BLOCKS}},
    "client-bound": {"client_bound": {("select", at, b) for at in (1, 10, 100) for b in BLOCKS}},
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
    return reports.analysed(make(folder / "ledger.sqlite", **{**QUICK, **changes}))


def printed(analysis: Analysis, width: int = COLUMNS, **console: Any) -> str:
    return reports.printed(print_screen, view_of(analysis), width=width, **console)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=LONG) for seed in (2, 3))])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_quick_race_fits_eighty_columns_and_twenty_four_lines(
    tmp_path: Path, outcome: str, seed: int
) -> None:
    lines = printed(analysis_of(tmp_path, **OUTCOMES[outcome], seed=seed)).splitlines()
    assert len(lines) + PROMPT_LINES <= LINES == 24
    assert max(map(cell_len, lines)) <= COLUMNS
    assert all(line.isprintable() for line in lines)


def test_a_row_is_a_design_and_a_column_a_work_and_a_number_of_connections(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path)
    text = printed(analysis)
    assert re.search(r"^ +work classic +work snapshot$", text, re.MULTILINE)
    assert re.search(r"^connections +1 +10 +100 +1 +10 +100$", text, re.MULTILINE)
    for design in DESIGNS:
        (row,) = re.findall(rf"^{design} +(.*)$", text, re.MULTILINE)
        figures = re.findall(r"[★☆]?(1|[\d.,]+±[\d.,]+)(?: |$)", row)
        beside = [
            next((one for one in group.against if _is_of(one, design, step)), None)
            for group in analysis.groups
            for step in group.steps
        ]
        assert figures == ["1" if one is None else "±".join(ratio_around(one)) for one in beside]
    stars = [star for row in text.splitlines() for star in re.findall(r"([★☆])\d", row)]
    assert stars.count("★") + stars.count("☆") >= 6
    for group in analysis.groups:
        assert f"{group.title}: {headline(group)}"[:60] in text


def _is_of(one: AgainstBest, contender: str, step: int) -> bool:
    return (one.contender, one.at, one.metric) == (contender, step, PRIMARY.name)


def test_the_last_row_has_the_level_of_the_best(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path)
    text = printed(analysis)
    (row,) = re.findall(r"^1, in µs +(.*)$", text, re.MULTILINE)
    best = [
        next(
            result.estimates["server", PRIMARY.name]
            for result in group.at(step)
            if not any(_is_of(one, result.cell.contender, step) for one in group.against)
        )
        for group in analysis.groups
        for step in group.steps
    ]
    assert re.findall(r"([\d.,]+)±([\d.,]+)", row) == [around(one) for one in best]
    assert "µs: this machine, this hour only" in " ".join(text.split())
    assert text.index("times that of the best") < text.index("1, in µs")


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
    verdict = replace(
        group.overall, outcome=LARGER, lead=1.5, low=low, high=math.exp(50), front="select"
    )
    one = replace(group, overall=verdict)
    text = " ".join(printed(replace(analysis, groups=[one])).split())
    assert f"takes 1.50 times as much{says} Server" in text
    sentence = verdict_sentence(one, verdict)
    assert f"(95 % interval {says.strip(' ()') or TOO_FEW_TO_SAY})" in sentence
    assert "5,184" not in text + sentence


def test_a_half_width_covers_both_ends_and_is_never_shown_as_zero() -> None:
    for value, low, high, words in (
        (133.2, 96.3, 169.4, ("133", "37")),
        (34.57, 32.81, 36.31, ("34.6", "1.8")),
        (0.0531, 0.0502, 0.0561, ("0.053", "0.003")),
        (1_962_000, 1_950_000, 1_980_000, ("1.96 M", "0.02 M")),
        (500.0, 499.99, 500.01, ("500.0", "0.1")),
        (0.0, 0.0, 0.0, ("0", "0")),
    ):
        assert around(Estimate(value, low, high, 10, "measured")) == words
    assert around(Estimate(531.0, 431.0, 5_895.0, 10, "measured")) == ("531", "")
    assert around(Estimate(None, None, None, 0, "client-bound")) == ("client-bound", "")
    assert around(Estimate(3.0, None, None, 1, "measured")) == ("3.00", "")


def test_no_figure_is_beyond_a_thousand_percent() -> None:
    assert more_than_one(1.083) == "8.3 %"
    assert more_than_one(11.0) == "1,000 %"
    assert more_than_one(11.01) == more_than_one(None) == TOO_FEW_TO_SAY
    assert between(2400.0, 1900.0, 3100.0) == "1,900–3,100", "a large ratio that is well known"
    assert between(2.0, 1.5, 1e9) == "over 1.50"
    assert between(2.0, 1e-9, 2.5) == "under 2.50"
    assert between(2.0, 1e-9, 1e9) == TOO_FEW_TO_SAY


@pytest.mark.parametrize("outcome", ["a winner", "all wrong at once", "hostile names"])
def test_a_log_has_the_text_of_the_terminal_without_colours(tmp_path: Path, outcome: str) -> None:
    analysis = analysis_of(tmp_path, **OUTCOMES[outcome])
    log = printed(analysis)
    terminal = printed(analysis, force_terminal=True, color_system="truecolor")
    assert "\x1b" not in log
    assert "\x1b[" in terminal
    assert re.sub(r"\x1b\[[\d;]*m", "", terminal) == log


@pytest.mark.parametrize("outcome", ["a winner", "all wrong at once", "long names"])
def test_a_narrow_terminal_breaks_no_row(tmp_path: Path, outcome: str) -> None:
    analysis = analysis_of(tmp_path, **OUTCOMES[outcome])
    for width in (20, 33, 40, 60, 79, 100, 200):
        lines = printed(analysis, width).splitlines()
        assert max(map(cell_len, lines)) <= width
        assert any("±" in line for line in lines)


class Ascii(io.StringIO):
    encoding = "ascii"


def test_an_ascii_terminal_gets_substitutes(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, contenders=["速", *DESIGNS])
    out = Ascii()
    print_screen(view_of(analysis), Console(file=out, width=COLUMNS))
    out.getvalue().encode("ascii")
    assert re.search(r"\*1( |$)", out.getvalue(), re.MULTILINE)
    assert re.search(r" 1\.\d\d\+-\.\d", out.getvalue())


def test_many_groups_and_designs_are_cut_with_a_count(tmp_path: Path) -> None:
    names = [design.name for design in every_design()]
    costs = {name: 500.0 + 20 * at for at, name in enumerate(names)}
    many: dict[str, Any] = {
        "contenders": names,
        "works": ["a", "b", "c", "d", "e", "f"],
        "cpu_us": costs,
    }
    text = printed(analysis_of(tmp_path, **many, blocks=3))
    for name in names:
        assert len(re.findall(rf"^{name} +", text, re.MULTILINE)) == 1
    assert "2 more tables in the report" in text
    assert "2 more groups of cells in the report" in text
    assert len(text.splitlines()) <= 2 * LINES


def test_surplus_contenders_are_counted(tmp_path: Path) -> None:
    names = [f"contender-{number}" for number in range(20)]
    text = printed(analysis_of(tmp_path, contenders=names, connections=[1], blocks=3))
    assert "and 3 more in the report" in text


def test_an_unknown_figure_is_a_word_not_zero(tmp_path: Path) -> None:
    fail = {("select", 10, block) for block in BLOCKS}
    text = printed(analysis_of(tmp_path, fail=fail))
    (row,) = re.findall(r"^select  +.*$", text, re.MULTILINE)
    assert row.split().count("failed") == 2


def test_a_contender_that_cannot_be_compared_has_a_figure_but_no_star(tmp_path: Path) -> None:
    bound = {("select", at, block) for at in (1, 10, 100) for block in BLOCKS}
    text = printed(analysis_of(tmp_path, client_bound=bound))
    (row,) = re.findall(r"^select  +.*$", text, re.MULTILINE)
    assert len(re.findall(r"\?\d", row)) == 6
    assert not set("★☆") & set(text)
    assert "? may be as good" in text
    assert re.search(r"Client-bound in 36 of 108 trials, select: offer at most [\d,]+/s", text)


def test_a_rate_that_is_not_held_is_one_line(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path)
    first, *others = analysis.groups[0].cells
    slow = replace(first, started=0.29)
    groups = [replace(analysis.groups[0], cells=[slow, *others]), *analysis.groups[1:]]
    (note,) = notes(replace(analysis, groups=groups))
    assert note.line.startswith("iterative does not hold the rate: started 29 % of due requests")
    assert note.line.endswith("lower the rate")
    assert "of a lower load" in note.sentence


def test_claims_are_one_line_that_counts_them(tmp_path: Path) -> None:
    analysis = replace(analysis_of(tmp_path), claims=all_kinds())
    lines = printed(analysis).splitlines()
    (line,) = (line for line in lines if "claim" in line)
    assert line == "6 claims: 2 supported, 2 refuted, 1 undecided and 1 not measurable here."
    assert not any(claim.says in " ".join(lines) for claim in all_kinds())


def test_a_quick_race_says_what_it_cannot_decide(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path)
    quick = replace(analysis, meta=analysis.meta | {"quick": "yes"})
    (note,) = notes(quick)
    assert note.line == "A first look detects only large differences: leave out --quick"
    few = [claim(name, "So it is.", TOO_FEW) for name in "abc"]
    (note,) = notes(replace(quick, claims=[*few, *all_kinds()]))
    assert note.line == "3 claims cannot be decided in a first look: leave out --quick"
    assert note.sentence.startswith("A first look: 3 claims cannot be decided with so few blocks.")
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
    assert told[0].line.startswith("Clock speeds differed")


def test_a_sound_race_has_no_warnings(tmp_path: Path) -> None:
    disturbed = {("select", 10, 2), ("select", 10, 3)}
    analysis = analysis_of(tmp_path, disturbed=disturbed)
    again = [replace(one, trial=replace(one.trial, superseded=True)) for one in analysis.disturbed]
    assert len(again) == 4, "two works"
    calm = replace(analysis, disturbed=again)
    (told,) = notes(calm)
    assert told.line == ""
    assert "4 trials disturbed" in told.sentence
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
    assert len(lines) == 4
    assert all(len(line) <= COLUMNS and line.isprintable() for line in lines)
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
    groups = [
        replace(
            group,
            cells=[replace(one, started=0.98765) for one in group.cells],
            contradictions=otherwise,
            unconfirmed=otherwise,
            inversions=otherwise,
        )
        for group in analysis.groups
    ]
    cold = [
        ContenderWarmUp(name, "/", "open", "never steady", 9, 3.0, 9, 9, None, None, None, ())
        for name in names
    ]
    found = notes(replace(analysis, groups=groups, warm_ups=cold, planned=analysis.trials + 1))
    # Not quick; none repeated, timed by a canary or alone; no timer waited for; three ask nothing.
    nameless = 8
    assert len(found) == len(NOTES) - nameless
    for note in found:
        assert note.do
        assert note.line.endswith(f": {note.do}")
        assert len(note.line) <= COLUMNS
        assert len(note.line) > len(note.do) + 20, "and what is wrong is there, too"


def test_contenders_that_were_not_warm_are_named_before_the_cut(tmp_path: Path) -> None:
    cold = [
        ContenderWarmUp(name, "/", "open", "never steady", 9, 3.0, 9, 9, None, None, None, ())
        for name in ("iterative", "prefork-fdpass", "prethread-queue")
    ]
    (note,) = notes(replace(analysis_of(tmp_path), warm_ups=cold))
    assert note.line.startswith("Not warm: iterative, prefork-fdpass")
    assert note.do == "raise the warm-up limit"


def test_a_headline_without_a_winner_names_the_rivals(
    tmp_path: Path,
) -> None:
    (group, *_) = analysis_of(tmp_path).groups
    tied = replace(group.overall, outcome=NO_DIFFERENCE, best=("select", "iterative"), rivals={})
    assert headline(replace(group, overall=tied)) == (
        "select and iterative are not distinguishable"
    )
    beside = replace(tied, rivals={"epoll": "client-bound", "poll": "failed"})
    assert headline(replace(group, overall=beside)) == (
        "select and iterative are not distinguishable, and epoll and poll may be as good"
    )


def test_an_unfinished_race_says_how_to_continue(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", **QUICK)
    change(path, "DELETE FROM trial WHERE block > 4")
    text = printed(reports.analysed(path))
    assert "Not finished, 72 of 108 trials: resume it" in text
    session = RaceSession(as_json=False, quiet=True)
    folder = tmp_path / "my race"
    folder.mkdir()
    with session.console.capture() as captured:
        show_results(reports.analysed(path), folder, session)
    assert f" race --resume '{folder}'\n" in captured.get()
    with session.console.capture() as captured:
        show_results(analysis_of(folder), folder, session)
    assert "--resume" not in captured.get()
