"""623 figures of five lab reports: what disagrees with arithmetic is found, and nothing else."""

from pathlib import Path

from regatta.teach.review import CONTRADICTION, ReviewFinding, review
from tests.servers import REPOSITORY

PUBLISHED = REPOSITORY / "studies/published/measurements.csv"
AS_PRINTED = Path(__file__).parents[1] / "fixtures/review/as-printed.csv"
A_SELECT = "A, select, 30, client"
SERVER = "server"


def found_in(*paths: Path) -> list[ReviewFinding]:
    return list(review([str(path) for path in paths]).findings)


def by_check(findings: list[ReviewFinding], kind: str) -> set[tuple[str, str]]:
    return {
        (finding.subject, finding.check.name) for finding in findings if finding.check.kind == kind
    }


def test_all_figures_are_read() -> None:
    found = review([str(PUBLISHED)])
    assert (found.figures, found.runs) == (623, 49)


def test_of_all_rows_the_two_misprints_that_were_kept_contradict_others() -> None:
    """Its instructions nearly repeat the branches, and its cycles are probably the instructions."""
    findings = found_in(PUBLISHED)
    assert by_check(findings, CONTRADICTION) == {(A_SELECT, "mix"), (A_SELECT, "misplaced")}
    says = " ".join(finding.says for finding in findings)
    assert (
        "2008918 branches / 2098918 instructions = 0.9571, but the median of all is 0.1858" in says
    )
    assert "2008918 branches / 10971643 cycles = 0.1831" in says


def test_every_row_that_disagrees_with_arithmetic_is_found_as_it_is_printed() -> None:
    findings = found_in(AS_PRINTED)
    found = {
        (finding.line, finding.check.name): finding
        for finding in findings
        if finding.check.kind == CONTRADICTION
    }
    expected = {
        (4, "ratio"): "416830285 cycles / 102.63 ms = 4.061 GHz, but 3.152 GHz is printed.",
        (4, "misplaced"): "77468976 branches / 416830285 cycles = 0.1859",
        (5, "ratio"): "10971643 cycles / 6.69 ms = 1.64 GHz, but 2.470 GHz is printed.",
        (5, "misplaced"): "2008918 branches / 10971643 cycles = 0.1831",
        (5, "mix"): "2008918 branches / 2098918 instructions = 0.9571",
        (6, "ratio"): "36392662 instructions / 55241654 cycles = 0.6588 insn per cycle, but 3.50",
        (6, "mix"): "1870542 branches / 36392662 instructions = 0.0514",
        (7, "twice"): "91874 branch misses here, 81599 branch misses in line 6",
        (9, "ratio"): "103365 branch misses / 6049488 branches = 1.709 %, but 4.65 % is printed.",
        (9, "twice"): "103365 branch misses here, 116735 branch misses in line 8",
        (10, "ratio"): "1149 page faults / 25.62 ms = 44.85 K/sec, but 25744.856 K/sec",
        (11, "ratio"): "115 page faults / 149.02 ms = 771.7 /sec, but 3771.708 /sec",
    }
    assert found.keys() == expected.keys()
    for where, words in expected.items():
        assert words in found[where].says


def test_what_the_figures_do_not_show() -> None:
    found = by_check(found_in(PUBLISHED), "not shown")
    subjects = {check: {subject for subject, name in found if name == check} for _, check in found}
    assert subjects["unserved"] == {"E, select, 5, server"}
    assert subjects["start-and-end"] == {
        "C, iterative, 1, server",
        "C, thread-per-client, 3, server",
        "D, thread-per-client, 5, server",
        "E, select, 5, server",
    }
    servers = {subject for subject in subjects["ranks"] if subject.endswith(SERVER)}
    assert servers == {
        "A, select, 100, server",
        "B, thread-per-client, 10, server",
        "B, thread-per-client, 25, server",
        "B, thread-per-client, 50, server",
        "D, iterative, 5, server",
    }
    assert {len(subjects["one-run"]), len(subjects["idle"])} == {1}
