"""Claims on a terminal, in Markdown, as CSV and as pictures."""

import csv
import io
from dataclasses import replace

import pytest
import vl_convert

from regatta.judge.analyse import analyse
from regatta.judge.claims.result import (
    REFUTED,
    SUPPORTED,
    UNDECIDED,
    ClaimPart,
    ClaimResult,
    ScopeResult,
)
from regatta.judge.results import Analysis
from regatta.record.read import read
from regatta.show import claim_words as words
from regatta.show.build import view_of
from regatta.show.claim_figures import PUBLISHED, panels
from regatta.show.claims import claims_section, lines
from regatta.show.csv import claims_csv, verdicts_csv
from regatta.show.palette import DARK, config
from regatta.show.pictures import picture
from regatta.show.view import Chart
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


def told(analysis: Analysis, claims: list[ClaimResult]) -> str:
    return reports.told(replace(analysis, claims=claims))


def test_a_claim_has_its_words_figures_verdict_and_reason(analysis: Analysis) -> None:
    text = told(analysis, [ranked()])
    for words_ in (
        "✗ A1: At 100 connections the thread-per-client server uses the least CPU",
        "published: thread-per-client 306.78, select 360.02, iterative 428.11 ms, whole process",
        "as they measured: ? undecided: thread-per-client 71.2 (66.2–76.2), select 70.4",
        "differences below 8.3 % are not detectable here; it held in 3 of 8 single runs",
        "as it should be: ✗ refuted: thread-per-client 713 (699–727), select 612 (606–618)",
        "Each request costs thread-per-client 101 µs more",
        "1 claim: 1 refuted.",
    ):
        assert words_ in text


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
    assert lines(compared())[-1].endswith(
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
            ClaimPart(2.0, 1.5, label="a", scale="ratio", verdict=SUPPORTED),
            "2.00 times",
            "over 1.50",
        ),
    ],
)
def test_a_comparison_in_words(made: ClaimPart, value: str, interval: str) -> None:
    assert words.value(made) == value
    assert words.interval(made) == interval


@pytest.mark.parametrize(
    ("detectable", "shown"),
    [
        (1.083, "differences below 8.3 % are not detectable here"),
        (3.4, "differences below 240 % are not detectable here"),
        (10.9, "differences below 990 % are not detectable here"),
        (42.0, "too few to say what is detectable"),
        (1e50, "too few to say what is detectable"),
    ],
)
def test_detectable_differences_have_few_digits(detectable: float, shown: str) -> None:
    blind = replace(part("a", 1.0, 0.1, UNDECIDED), detectable=detectable)
    result = ScopeResult(UNDECIDED, [blind], [], None)
    assert words.unseen(result) == shown
    assert words.unseen(replace(result, verdict=REFUTED)) == ""
    assert words.detectable(blind).removeprefix("detectable: ") in shown
    assert words.seen_of(blind) == (detectable if detectable < 11 else None)
    for other in (
        replace(blind, verdict=SUPPORTED),
        replace(blind, claimed_low=0.9, claimed_high=1.1),
    ):
        assert words.detectable(other) == ""


def test_there_is_a_row_and_a_section_for_each(analysis: Analysis) -> None:
    section = claims_section(analysis)
    (sources, verdicts) = section.tables
    assert [row.name for row in verdicts.rows] == [claim.id for claim in all_kinds()]
    assert [part_of.name for part_of in section.sections] == [
        f"claim-{claim.id}" for claim in all_kinds()
    ]
    found = [figure.value for row in verdicts.rows for figure in row.figures]
    assert "✗ refuted" in found
    assert "✓ supported" in found
    assert len(sources.rows) > 1


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


def test_a_claim_has_its_place_and_note(analysis: Analysis) -> None:
    text = told(analysis, [replace(ranked(), where="table 3", note="A misprint.")])
    assert f"Claimed by {ranked().source}, table 3. " in text
    assert "Note: A misprint." in text


def test_verdicts_are_counted_by_source_where_there_are_several(analysis: Analysis) -> None:
    (sources, _) = claims_section(analysis).tables
    titles = [heading.title for heading in sources.header]
    given = ["supported", "refuted", "undecided", "not measurable here"]
    assert titles == ["source", "claims", *given]
    rows = {row[0]: row[1:] for row in reports.cells(sources)}
    assert rows[ranked().source] == ["2", "0", "1", "0", "1"]
    assert len(claims_section(replace(analysis, claims=[ranked()])).tables) == 1


def charts(analysis: Analysis) -> dict[str, Chart]:
    section = claims_section(analysis)
    return {chart.name: chart for part_of in section.sections for chart in part_of.charts}


def test_every_claim_with_figures_is_a_picture(analysis: Analysis) -> None:
    found = charts(analysis)
    measured = {claim.id for claim in all_kinds()}
    assert {name.split("-")[1] for name in found} == measured
    for chart in found.values():
        drawn = vl_convert.vegalite_to_png(picture(chart, titled=True), config=config(DARK))
        assert drawn.startswith(b"\x89PNG")


def test_figures_with_a_wide_range_get_a_logarithmic_axis(analysis: Analysis) -> None:
    found = charts(replace(analysis, claims=[hundredfold(), ranked()]))
    count = {
        name: sum(str(panel.spec).count("'type': 'log'") for panel in chart.panels)
        for name, chart in found.items()
    }
    assert count["claim-E1"] > 0
    assert count["claim-A1"] == 0


def test_a_race_without_claims_has_no_section_of_them(analysis: Analysis) -> None:
    names = [part_of.name for part_of in view_of(replace(analysis, claims=[])).sections]
    assert "claims" not in names


def test_rounding_keeps_figures_on_their_side_of_the_bound() -> None:
    more = replace(part("a", 2.3, 0.1, SUPPORTED, claimed_low=2.0), low=2.003, high=2.6)
    assert (words.value(more), words.interval(more)) == ("2.300 times", "2.003–2.600")
