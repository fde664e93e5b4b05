"""Claims in the view, as CSV and as pictures."""

import csv
import io
from collections.abc import Callable
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
from regatta.show.csv import claims_csv
from regatta.show.palette import DARK, config
from regatta.show.pictures import picture
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

SAID = replace(ranked(), where="table 3", note="A misprint.")


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    path = tmp_path_factory.mktemp("race") / "ledger.sqlite"
    found = analyse(read(make(path, connections=[10], blocks=2, requests=20)))
    return replace(found, claims=all_kinds())


def test_a_claim_has_its_source_words_figures_verdict_and_reason(analysis: Analysis) -> None:
    text = reports.told(replace(analysis, claims=[SAID]))
    for says in (
        "✗ A1: At 100 connections the thread-per-client server uses the least CPU",
        f"Claimed by {SAID.source}, table 3. ",
        "Note: A misprint.",
        "published: thread-per-client 306.78, select 360.02, iterative 428.11 ms, whole process",
        "as they measured: ? undecided: thread-per-client 71.2 (66.2–76.2), select 70.4",
        "differences below 8.3 % are not detectable here; it held in 3 of 8 single runs",
        "as it should be: ✗ refuted: thread-per-client 713 (699–727), select 612 (606–618)",
        "Each request costs thread-per-client 101 µs more",
        "1 claim: 1 refuted.",
    ):
        assert says in text


@pytest.mark.parametrize(
    ("made", "metric", "panel", "labels", "groups"),
    [
        # In the claimed order; only what differs is named.
        (ranked, 0, 0, ["thread-per-client", "select", "iterative"], [""]),
        (
            *(compared, 0, 0),
            ["iterative client", "iterative server", "select client", "select server"],
            [""],
        ),
        (at_several, 0, 1, None, ["10 connections", "25 connections", "50 connections"]),
        (of_the_book, 0, 0, None, ["solaris", "third edition"]),
    ],
)
def test_the_rows_of_a_panel(
    made: Callable[[], ClaimResult],
    metric: int,
    panel: int,
    labels: list[str] | None,
    groups: list[str],
) -> None:
    found = panels(made())[metric][panel]
    assert (found.scope == PUBLISHED) == (panel == 0)
    assert labels is None or [row.label for row in found.rows] == labels
    assert list(dict.fromkeys(row.group for row in found.rows)) == groups
    assert not found.grows


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
            *("2.00 times", "over 1.50"),
        ),
        # Rounding keeps figures on their side of the bound.
        (
            ClaimPart(
                *(2.3, 2.003, 2.6), label="a", scale="ratio", verdict=SUPPORTED, claimed_low=2.0
            ),
            *("2.300 times", "2.003–2.600"),
        ),
    ],
)
def test_a_comparison_in_words(made: ClaimPart, value: str, interval: str) -> None:
    assert (words.value(made), words.interval(made)) == (value, interval)


@pytest.mark.parametrize(
    ("detectable", "says"),
    [
        (1.083, "differences below 8.3 % are not detectable here"),
        (10.9, "differences below 990 % are not detectable here"),
        (42.0, "too few to say what is detectable"),
    ],
)
def test_detectable_differences_have_few_digits(detectable: float, says: str) -> None:
    blind = replace(part("a", 1.0, 0.1, UNDECIDED), detectable=detectable)
    result = ScopeResult(UNDECIDED, [blind], [], None)
    assert words.unseen(result) == says
    assert words.unseen(replace(result, verdict=REFUTED)) == ""
    assert words.detectable(blind).removeprefix("detectable: ") in says
    assert words.seen_of(blind) == (detectable if detectable < 11 else None)
    for other in (
        replace(blind, verdict=SUPPORTED),
        replace(blind, claimed_low=0.9, claimed_high=1.1),
    ):
        assert words.detectable(other) == ""


def test_there_is_a_row_and_a_section_for_each_and_verdicts_are_counted_by_source(
    analysis: Analysis,
) -> None:
    section = claims_section(analysis)
    (sources, verdicts) = section.tables
    assert [row.name for row in verdicts.rows] == [claim.id for claim in all_kinds()]
    assert [inner.name for inner in section.sections] == [
        f"claim-{claim.id}" for claim in all_kinds()
    ]
    assert {"✗ refuted", "✓ supported"} < {of.value for row in verdicts.rows for of in row.figures}
    given = ["supported", "refuted", "undecided", "not measurable here"]
    assert [heading.title for heading in sources.header] == ["source", "claims", *given]
    rows = {row[0]: row[1:] for row in reports.cells(sources)}
    assert rows[ranked().source] == ["2", "0", "1", "0", "1"]
    assert len(claims_section(replace(analysis, claims=[ranked()])).tables) == 1
    assert "claims" not in [inner.name for inner in view_of(replace(analysis, claims=[])).sections]


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


def test_every_claim_is_a_picture_with_a_logarithmic_axis_if_it_needs_one(
    analysis: Analysis,
) -> None:
    found = {
        chart.name: chart
        for section in claims_section(analysis).sections
        for chart in section.charts
    }
    assert {name.split("-")[1] for name in found} == {claim.id for claim in all_kinds()}
    for chart in found.values():
        drawn = vl_convert.vegalite_to_png(picture(chart, titled=True), config=config(DARK))
        assert drawn.startswith(b"\x89PNG")
    logs = {name: str(chart.panels).count("'type': 'log'") for name, chart in found.items()}
    assert logs[f"claim-{hundredfold().id}"] > 0
    assert logs["claim-A1"] == 0
