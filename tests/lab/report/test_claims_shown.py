"""Claims on a terminal, in Markdown, as CSV and as pictures."""

import csv
import io
from dataclasses import replace

import pytest
import vl_convert

from regatta.analysis.analyse import analyse
from regatta.analysis.claims.result import (
    REFUTED,
    SUPPORTED,
    UNDECIDED,
    ClaimPart,
    ClaimResult,
    ScopeResult,
)
from regatta.analysis.results import Analysis
from regatta.ledger.read import read
from regatta.report.charts.theme import DARK, config
from regatta.report.claims import words
from regatta.report.claims.csv import claims_csv, verdicts_csv
from regatta.report.claims.lines import claim_lines
from regatta.report.claims.panels import PUBLISHED, panels
from regatta.report.claims.picture import claim_pictures
from regatta.report.claims.terminal import print_claims
from regatta.report.markdown import to_markdown
from regatta.report.page.html import to_html
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_claims import (
    all_kinds,
    at_several,
    compared,
    growing,
    hundredfold,
    of_the_book,
    part,
    ranked,
)


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    path = tmp_path_factory.mktemp("race") / "ledger.sqlite"
    found = analyse(read(make(path, connections=[10], blocks=2, requests=20)))
    return replace(found, claims=all_kinds())


def printed(claims: list[ClaimResult]) -> str:
    return " ".join(reports.printed(print_claims, claims).split())


def test_the_terminal_shows_words_figures_verdict_and_reason() -> None:
    text = printed([ranked()])
    for told in (
        "A1 ✗ refuted At 100 connections the thread-per-client server uses the least CPU",
        "published: thread-per-client 306.78, select 360.02, iterative 428.11 ms, whole process",
        "as they measured: ? undecided: thread-per-client 71.2 (66.2–76.2), select 70.4",
        "differences below 8.3 % are not detectable here; it held in 3 of 8 single runs",
        "as it should be: ✗ refuted: thread-per-client 713 (699–727), select 612 (606–618)",
        "why: Each request costs thread-per-client 101 µs more",
        "1 claim: 1 refuted.",
    ):
        assert told in text


def test_no_claims_print_nothing() -> None:
    assert printed([]) == ""


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_claim_fits_every_terminal(width: int) -> None:
    lines = reports.printed(print_claims, all_kinds(), width=width).splitlines()
    assert max(map(len, lines)) <= width


def test_rows_are_in_the_claimed_order() -> None:
    for of_metric in panels(ranked()):
        for panel in of_metric:
            assert [row.design for row in panel.rows] == [
                "thread-per-client",
                "select",
                "iterative",
            ]


def test_row_labels_name_only_what_differs() -> None:
    ((published, *_), _) = panels(compared())
    assert [row.label for row in published.rows] == [
        "iterative client",
        "iterative server",
        "select client",
        "select server",
    ]
    assert {row.group for row in published.rows} == {""}
    ((_, here, _),) = panels(at_several())
    assert [row.group for row in here.rows[::3]] == [
        "10 connections",
        "25 connections",
        "50 connections",
    ]
    assert not here.grows


def test_several_columns_of_one_source_are_separate() -> None:
    ((published, _),) = panels(of_the_book())
    assert published.scope == PUBLISHED
    assert [row.group for row in published.rows[::4]] == ["solaris", "third edition"]


def test_one_series_over_connections_is_a_curve() -> None:
    ((published, here),) = panels(growing())
    assert published.grows
    assert here.grows
    assert published.unit == "s elapsed"


def test_what_was_not_measured_is_a_word() -> None:
    lines = {line.scope: line for line in claim_lines(compared())}
    assert lines["window"].figures == (
        "top-down: backend bound: not supported; top-down: frontend bound: not supported"
    )


@pytest.mark.parametrize(
    ("made", "value", "interval"),
    [
        (part("a", 1.24, 0.1, SUPPORTED), "1.24 times", "1.12–1.36"),
        (part("a", 1.01, 0.02, SUPPORTED, scale="exponent"), "power 1.01", "0.99–1.03"),
        (part("a", 0.5, 0.1, SUPPORTED, scale="difference"), "+0.500", "+0.450 to +0.550"),
        (part("a", None, 0, UNDECIDED, reason="no trial"), "no trial", ""),
        (
            ClaimPart("a", "ratio", 2.0, 1.5, None, 0.05, 8, SUPPORTED, None),
            "2.00 times",
            "over 1.50",
        ),
    ],
)
def test_a_comparison_in_words(made: ClaimPart, value: str, interval: str) -> None:
    assert words.value(made) == value
    assert words.interval(made) == interval


@pytest.mark.parametrize(
    ("detectable", "told"),
    [
        (1.083, "differences below 8.3 % are not detectable here"),
        (3.4, "differences below 240 % are not detectable here"),
        (10.9, "differences below 990 % are not detectable here"),
        (42.0, "too few to say what is detectable"),
        (1e50, "too few to say what is detectable"),
    ],
)
def test_detectable_differences_have_few_digits(detectable: float, told: str) -> None:
    blind = replace(part("a", 1.0, 0.1, UNDECIDED), detectable=detectable)
    result = ScopeResult(UNDECIDED, [blind], [], None)
    assert words.unseen(result) == told
    assert words.unseen(replace(result, verdict=REFUTED)) == ""
    assert words.detectable(blind).removeprefix("detectable: ") in told
    assert words.seen_of(blind) == (detectable if detectable < 11 else None)


def test_only_undecided_comparisons_state_what_is_detectable() -> None:
    assert words.detectable(part("a", 1.0, 0.1, UNDECIDED)) == "detectable: 8.3 %"
    assert words.detectable(part("a", 1.5, 0.1, SUPPORTED)) == ""
    alike = part("a ~ b", 1.05, 0.1, UNDECIDED, claimed_low=0.9, claimed_high=1.1)
    assert words.detectable(alike) == ""


def test_the_markdown_has_a_row_and_a_paragraph_for_each(analysis: Analysis) -> None:
    text = to_markdown(analysis)
    table = [line for line in text.splitlines() if line.startswith("| **")]
    assert len([line for line in table if "supported |" in line or "refuted |" in line]) == 4
    for claim in all_kinds():
        assert f"| **{claim.id}** |" in text
        assert f"**{claim.id}, " in text
    assert "- published: select 3.19, iterative 415.3, thread-per-client 418.9 ms" in text


def test_hostile_claims_are_escaped(analysis: Analysis) -> None:
    bad = replace(ranked(), says="a | b <script>x</script>", why="\x1b[31m`tick`")
    hostile = replace(analysis, claims=[bad])
    row = next(line for line in to_markdown(hostile).splitlines() if line.startswith("| **A1**"))
    assert row.count(" | ") == 4
    assert "<script>x" not in to_html(hostile)
    assert "\x1b" not in printed([bad])


def test_the_csv_holds_every_verdict_comparison_and_figure() -> None:
    rows = list(csv.DictReader(io.StringIO(claims_csv(all_kinds()))))
    for claim in all_kinds():
        mine = [row for row in rows if row["claim"] == claim.id]
        assert len([row for row in mine if row["row"] == "published"]) == len(claim.published)
        for scope, result in claim.scopes.items():
            here = [row for row in mine if row["scope"] == scope]
            assert [row["verdict"] for row in here if row["row"] == "claim"] == [result.verdict]
            assert len([row for row in here if row["row"] == "part"]) == len(result.parts)
            assert len([row for row in here if row["row"] == "figure"]) == len(result.figures)


def test_the_table_of_verdicts_has_a_row_for_each_claim() -> None:
    said = replace(ranked(), where="table 3", note="A misprint.")
    rows = list(csv.DictReader(io.StringIO(verdicts_csv([said, at_several(), of_the_book()]))))
    assert [row["claim"] for row in rows] == ["A1", "B2", "U3"]
    assert [row["window"] for row in rows] == [REFUTED, SUPPORTED, UNDECIDED]
    assert [row["process"] for row in rows] == [UNDECIDED, SUPPORTED, ""]
    assert [row["published_agrees"] for row in rows] == ["yes", "no", "yes"]
    first = rows[0]
    assert (first["source"], first["says"], first["why"]) == (said.source, said.says, said.why)
    assert (first["where"], first["note"]) == ("table 3", "A misprint.")


def test_page_and_markdown_have_the_place_and_note_of_a_claim(analysis: Analysis) -> None:
    said = replace(analysis, claims=[replace(ranked(), where="table 3", note="A misprint.")])
    text = to_markdown(said)
    assert f"**A1, {ranked().source} (table 3):** {ranked().says}" in text
    assert "- note: A misprint." in text
    page = to_html(said)
    assert f"Claimed by {ranked().source}, table 3. " in page
    assert "Note: A misprint." in page


def test_verdicts_are_counted_by_source_where_there_are_several(analysis: Analysis) -> None:
    text, page = to_markdown(analysis), to_html(analysis)
    head = "| claimed by | claims | supported | refuted | undecided | not measurable here |"
    assert head in text
    assert f"| {ranked().source} | 2 | 0 | 1 | 0 | 1 |" in text
    assert "<h3>report B</h3>" in page
    assert "2 claims: 2 supported." in page
    one = replace(analysis, claims=[ranked()])
    assert "| claimed by |" not in to_markdown(one)
    assert f"<h3>{ranked().source}</h3>" not in to_html(one)


def test_every_claim_with_figures_is_a_picture(analysis: Analysis) -> None:
    found = claim_pictures(analysis)
    assert set(found) == {f"claim-{claim.id}" for claim in all_kinds()}
    for spec in found.values():
        assert vl_convert.vegalite_to_png(spec, config=config(DARK)).startswith(b"\x89PNG")


def test_figures_with_a_wide_range_get_a_logarithmic_axis(analysis: Analysis) -> None:
    found = claim_pictures(replace(analysis, claims=[hundredfold(), ranked()]))
    told = {name: str(spec).count("'type': 'log'") for name, spec in found.items()}
    assert told["claim-E1"] > 0
    assert told["claim-A1"] == 0


def test_a_race_without_claims_writes_no_claims(analysis: Analysis) -> None:
    without = replace(analysis, claims=[])
    assert 'id="claims"' not in to_html(without)
    assert "## Claims" not in to_markdown(without)
    assert claim_pictures(without) == {}


def test_rounding_keeps_figures_on_their_side_of_the_bound() -> None:
    more = replace(part("a", 2.3, 0.1, SUPPORTED, claimed_low=2.0), low=2.003, high=2.6)
    assert (words.value(more), words.interval(more)) == ("2.300 times", "2.003–2.600")
