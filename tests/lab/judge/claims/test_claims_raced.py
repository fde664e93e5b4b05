"""Claims of a whole race, from the ledger to the verdict and its reason."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from regatta.judge.analyse import analyse
from regatta.judge.claims.evidence import RaceResults
from regatta.judge.claims.judge import judge_all
from regatta.judge.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    VERDICTS,
    ClaimResult,
)
from regatta.judge.estimates import Estimates, estimate_latency
from regatta.record.inputs import RaceInputs
from regatta.record.read import read
from regatta.record.records import Trial
from regatta.record.study import load_study, parse_study
from regatta.record.study.find import Design
from regatta.record.study.published import recorded_claims
from regatta.show.build import view_of
from regatta.show.markdown import to_markdown
from tests.lab import synthetic
from tests.lab.designs import every_design

SHIPPED = ("reports", "chapter-30")
HARDWARE = ("clock", "cycles", "instructions", "branch", "cache", "stalled", "tma")
"""How the metrics begin that need a counter of the CPU."""
THREE = ("iterative", "select", "thread-per-client")
STUDIES = Path(__file__).resolve().parents[4] / "studies"
DESIGNS = [Design(name, "") for name in (*THREE, "fork-per-client")]


def raced(
    tmp_path: Path, bodies: str, designs: Sequence[str] = (), **race: Any
) -> dict[str, ClaimResult]:
    """What a made-up race finds of the claims, by name; `designs`: of the study, if not raced."""
    whole = synthetic.SyntheticRace(**race)
    cells = (
        f'name = "mine"\n[[cells]]\ndesigns = {json.dumps(list(designs or whole.contenders))}\n'
        f"connections = {list(whole.connections)}\nengine = {json.dumps(list(whole.engines))}\n"
        f"scope = {json.dumps(list(whole.scopes))}\n"
    )
    study = parse_study(cells + bodies, DESIGNS, tmp_path)
    given = RaceInputs(claims=recorded_claims(study))
    path = synthetic.make(tmp_path / "ledger.sqlite", whole, inputs=given)
    return {found.id: found for found in analyse(read(path)).claims}


SOURCE = '[sources.E]\ntitle = "report E"\npublished = "figures.csv"\n'
FIGURES = """# Source: made up
report,design,connections,side,task_clock_ms
E,iterative,5,server,460.31
E,thread-per-client,5,server,421.18
E,select,5,server,3.19
"""


def claim(name: str, body: str) -> str:
    return f'[[claim]]\nid = "{name}"\nsays = "So it is."\n{body}\n'


SPENT = {
    "select": {"s;f (s)": 10.0, "s;__x64_sys_select_[k]": 10.0, "s;__x64_sys_brk_[k]": 0.001},
    "thread-per-client": {
        "t;__x64_sys_brk_[k]": 0.001,
        "t;f (t)": 10.0,
        "t;__do_sys_clone_[k]": 20.0,
        "t;__x64_sys_exit_[k]": 10.0,
    },
}
CAUSES = {
    "created": ("select", "thread-per-client", '"start of tasks"', 0.8),
    "tasks": ("select", "thread-per-client", '["start of tasks", "end of tasks"]', 1),
    "half": ("select", "thread-per-client", '"end of tasks"', 0.5),
    "all": ("select", "thread-per-client", '"end of tasks"', 0.9),
    "saved": ("select", "thread-per-client", '"system calls: select"', 0.1),
    "reversed": ("thread-per-client", "select", '"start of tasks"', 0.5),
    "none": ("select", "thread-per-client", '"system calls: futxe"', 0.5),
    "nothing": ("select", "thread-per-client", '"system calls: brk"', 0.5),
}


def causes() -> str:
    return "".join(
        claim(
            name,
            f'metric = "task_clock"\nconnections = 5\norder = ["{less}", "{more}"]\n'
            f"because = {of}\nat_least = {share}",
        )
        for name, (less, more, of, share) in CAUSES.items()
    )


def test_what_a_difference_is_spent_on(tmp_path: Path) -> None:
    race = {"contenders": list(SPENT), "connections": [5], "spent_us": SPENT, "sampled_blocks": 8}
    found = raced(tmp_path, causes(), scopes=["window", "process"], **race)
    assert {name: claim.verdict for name, claim in found.items()} == {
        "created": SUPPORTED,
        "tasks": SUPPORTED,
        "half": UNDECIDED,
        "all": REFUTED,
        "saved": REFUTED,
        "reversed": REFUTED,
        "none": UNDECIDED,
        "nothing": REFUTED,
    }
    assert (
        found["half"].claimed == "select < thread-per-client, at least 50 % of it for end of tasks"
    )
    said = re.fullmatch(
        r"at 5 connections: (.*) \(.*\) % of what thread-per-client needs more than select is for "
        "end of tasks",
        found["all"].why,
    )
    assert said
    assert float(said[1]) == pytest.approx(50, abs=2)
    assert found["reversed"].why.endswith("it needs less, not more")
    assert found["none"].why.endswith("no sample is of futxe")
    assert "% of what thread-per-client needs more than select is for brk" in found["nothing"].why
    report = to_markdown(view_of(analyse(read(tmp_path / "ledger.sqlite"))))
    assert "| half | So it is. | ? undecided |" in re.sub(" +", " ", report)
    assert set(found["all"].scopes) == {"window"}, "whole processes are not sampled"


def test_without_samples_a_cause_is_undecided(tmp_path: Path) -> None:
    found = raced(tmp_path, causes(), contenders=list(SPENT), connections=[5])
    assert {claim.verdict for claim in found.values()} == {UNDECIDED}
    assert found["half"].why.endswith("it has no samples (`--why`, of the last step of a table)")


def test_no_difference_has_no_cause(tmp_path: Path) -> None:
    equal = dict.fromkeys(SPENT, SPENT["select"])
    race = {"contenders": list(SPENT), "connections": [5], "sampled_blocks": 8}
    found = raced(tmp_path, causes(), spent_us=equal, **race)
    assert {claim.verdict for claim in found.values()} <= {UNDECIDED, REFUTED}
    assert found["saved"].verdict == UNDECIDED
    assert "that one needs more is not shown" in found["saved"].why
    assert "no sample is of start of tasks" in found["created"].why


def test_a_race_judges_claims_as_it_should_be_and_as_they_measured(tmp_path: Path) -> None:
    (tmp_path / "figures.csv").write_text(FIGURES)
    bodies = {
        "E1": 'source = "E"\nmetric = "task_clock"\nat_least = 100\n'
        'order = ["select", "iterative~thread-per-client"]',
        "E2": 'metric = "context_switches"\norder = ["select", "thread-per-client"]',
        "E5": 'metric = "branch_miss_rate"\norder = ["iterative~select"]',
        "E7": 'metric = "task_clock"\ncompare = "client < server"',
    }
    found = raced(
        tmp_path,
        SOURCE + "".join(claim(name, f"connections = 5\n{body}") for name, body in bodies.items()),
        connections=[5],
        engines=["thread", "fork"],
        scopes=["window", "process"],
        counted_blocks=8,
    )
    first = found["E1"]
    assert first.verdict == REFUTED
    assert "iterative has 1.0" in first.why, "the part that is furthest from the claim"
    assert list(first.scopes) == ["window", "process"]
    assert (first.source, first.claimed) == (
        "report E",
        "select × 100 ≤ iterative ~ thread-per-client",
    )
    window, process = (first.scopes[scope].figures for scope in ("window", "process"))
    assert {(figure.unit, figure.per) for figure in window} == {("µs", "request")}
    assert {(figure.unit, figure.per) for figure in process} == {("ms", "process")}
    assert {figure.engine for figure in window} == {"thread"}
    for figure in process:
        assert 4 < figure.value < 6, "five requests and a start, as perf counts them"
        assert figure.trials == 18, "a whole process is counted in each of its trials"
    assert found["E2"].verdict == SUPPORTED
    assert found["E5"].verdict == NOT_MEASURABLE
    assert "does not count branch miss rate" in found["E5"].why
    assert found["E7"].side == "both"
    assert found["E7"].verdict == SUPPORTED


def test_a_claim_may_be_over_the_clock_a_rate_the_time_or_the_memory(tmp_path: Path) -> None:
    compared = 'connections = 10\ncompare = "client < server"'
    bodies = "".join(
        [
            claim("clock", 'metric = "clock_ghz"\nconnections = 10\nabove = 3'),
            claim("rate", f'metric = "branches_per_second"\n{compared.replace("<", "~")}'),
            claim("elapsed", f'metric = "elapsed"\n{compared}'),
            claim(
                "memory",
                'metric = "peak_memory"\nconnections = 10\nratio = ["thread-per-client", "select"]'
                "\nat_least = 2",
            ),
        ]
    )
    race = {"connections": [10], "scopes": ["window", "process"], "counted_blocks": 8}
    found = raced(tmp_path, bodies, hardware=True, **race)
    assert {result.verdict for result in found.values()} == {SUPPORTED}
    (figure,) = {(figure.unit, figure.per) for figure in found["memory"].scopes["process"].figures}
    assert figure == ("MiB", "")


def test_counters_come_from_counted_trials_only(tmp_path: Path) -> None:
    body = claim(
        "X", 'metric = "page_faults"\nconnections = 10\norder = ["select", "thread-per-client"]'
    )
    (found,) = raced(tmp_path, body, connections=[10], blocks=10, counted_blocks=6).values()
    (part,) = found.scopes["window"].parts
    assert part.blocks == 6


def test_a_design_that_cannot_run_here_makes_its_claims_not_measurable(tmp_path: Path) -> None:
    order = 'metric = "task_clock"\nconnections = 10\norder = ["iterative", "select"]'
    (found,) = raced(
        tmp_path,
        claim("X", order),
        ["iterative", "select"],
        contenders=["iterative"],
        connections=[10],
        environment={"left_out": {"select": "no such call"}},
    ).values()
    assert found.verdict == NOT_MEASURABLE
    assert found.why == "select cannot run here: no such call"


def test_a_claim_that_is_made_twenty_times_costs_the_others_nothing(tmp_path: Path) -> None:
    body = 'metric = "task_clock"\nconnections = 10\norder = ["select", "iterative"]'
    race = {"connections": [10], "blocks": 8, "noise": 0.02, "cpu_us": {"select": 625.0}}
    (tmp_path / "alone").mkdir()
    (alone,) = raced(tmp_path / "alone", claim("X", body), **race).values()
    again = "".join(claim(f"Y{number}", body) for number in range(20))
    among = raced(tmp_path, claim("X", body) + again, **race)["X"]
    assert alone.scopes["window"].parts == among.scopes["window"].parts


def test_as_they_measured_uses_the_sources_client(tmp_path: Path) -> None:
    order = 'metric = "task_clock"\nconnections = 5\norder = ["select", "iterative"]\n'
    found = raced(
        tmp_path,
        claim("X", order + 'process_engines = { select = "fork" }'),
        connections=[5],
        engines=["thread", "fork"],
        scopes=["window", "process"],
    )
    engines = {
        scope: {figure.design: figure.engine for figure in result.figures}
        for scope, result in found["X"].scopes.items()
    }
    assert engines == {
        "window": {"select": "thread", "iterative": "thread"},
        "process": {"select": "fork", "iterative": "thread"},
    }


def test_a_burst_takes_until_its_last_client_is_answered(tmp_path: Path) -> None:
    """Served one by one, n clients take n times as long as one, however many bursts a trial has."""
    body = claim(
        "B1",
        'metric = "latency_max"\nshape = "linear"\ndesigns = ["iterative"]\n'
        "connections = [1, 10, 50]",
    )
    (found,) = raced(tmp_path, body, connections=[1, 10, 50], blocks=6).values()
    figures = found.scopes["window"].figures
    assert [figure.unit for figure in figures] == ["ms"] * 3
    first, *_, last = figures
    assert first.value == pytest.approx(0.74, rel=0.1), "not the slowest of 200 bursts"
    assert last.value == pytest.approx(0.65 * 50, rel=0.15)
    assert found.verdict == SUPPORTED


def test_growth_is_of_the_sum_over_all_connections(tmp_path: Path) -> None:
    """A request costs less with more connections, as made up; all of them cost more."""
    body = 'metric = "task_clock"\nshape = "rising"\ndesigns = ["select"]\nconnections = [1, 10]'
    (found,) = raced(
        tmp_path, claim("X", body), connections=[1, 10], blocks=6, scopes=["window", "process"]
    ).values()
    assert {result.verdict for result in found.scopes.values()} == {SUPPORTED}
    window, process = (found.scopes[scope].figures[1] for scope in ("window", "process"))
    assert (window.unit, window.per) == ("µs", "round")
    assert (process.unit, process.per) == ("ms", "process")
    assert window.value == pytest.approx(10 * (612 + 40 / 10**0.5), rel=0.05)
    assert window.value / 1000 + 1.2 == pytest.approx(process.value, rel=0.1)


RISES = 'designs = "select"\nper = "request"\nshape = "rising"'
WIDENS = 'widens = ["iterative", "select"]'


@pytest.mark.parametrize(("body", "verdict"), [(RISES, SUPPORTED), (WIDENS, REFUTED)])
@pytest.mark.parametrize(("blocks", "sittings", "units"), [(8, 1, 8), (3, 5, 5)])
def test_blocks_or_sittings_are_what_is_independent(  # noqa: PLR0913, PLR0917
    tmp_path: Path, body: str, verdict: str, blocks: int, sittings: int, units: int
) -> None:
    costs = {("select", 5): 2000.0, ("select", 15): 2400.0}
    (found,) = raced(
        tmp_path,
        claim("X", f'metric = "task_clock"\nconnections = [5, 15]\n{body}'),
        contenders=["select", "iterative"],
        connections=[5, 15],
        cpu_at=costs | {("iterative", 5): 2800.0, ("iterative", 15): 2600.0},
        noise=0.02,
        blocks=blocks,
        sittings=sittings,
        counted_blocks=0,
        requests=30,
    ).values()
    assert found.verdict == verdict
    (part,) = found.scopes["window"].parts
    assert part.blocks == units


def test_a_bound_on_a_percentile_uses_its_requests(tmp_path: Path) -> None:
    bodies = "".join(
        claim(name, f'metric = "latency_p50"\ndesigns = ["select"]\nconnections = 10\n{bound}')
        for name, bound in (("X", 'below = "9 ms"'), ("Y", 'below = "2 ms"'))
    )
    found = raced(tmp_path, bodies, connections=[10], blocks=6)
    assert [result.verdict for result in found.values()] == [SUPPORTED, REFUTED]
    (part,) = found["X"].scopes["window"].parts
    (figure,) = found["X"].scopes["window"].figures
    assert part.value == figure.value


class WhenAsked(dict[int, Estimates]):
    """Estimates of latency by cell, made for those that a claim is about."""

    def __init__(self, trials: dict[int, list[Trial]]) -> None:
        super().__init__()
        self.trials = trials

    def __missing__(self, number: int) -> Estimates:
        return estimate_latency(self.trials[number])[0]


@pytest.mark.parametrize("hardware", [True, False])
def test_every_claim_of_the_shipped_studies_gets_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hardware: bool
) -> None:
    """With hardware counters all; without, all but those that need one, which say which."""
    found: dict[str, ClaimResult] = {}
    studies = {name: load_study(STUDIES / f"{name}.toml", every_design()) for name in SHIPPED}
    for name, study in studies.items():
        monkeypatch.setattr(synthetic, "make_cells", lambda _race, cells=study.cells: list(cells))
        path = synthetic.make(
            tmp_path / f"{name}.sqlite", blocks=8, counted_blocks=6, hardware=hardware
        )
        ledger = read(path)
        race = RaceResults(ledger.cells, ledger.by_cell, WhenAsked(ledger.by_cell), {})
        found |= {result.id: result for result in judge_all(recorded_claims(study), race)}
    claims = [claim for study in studies.values() for claim in study.claims]
    assert list(found) == [claim.id for claim in claims]
    assert [(result.where, result.note) for result in found.values()] == [
        (claim.said_at, claim.note) for claim in claims
    ]
    absent = {name for name, result in found.items() if result.verdict == NOT_MEASURABLE}
    counted = {
        claim.id: [said.metric.startswith(HARDWARE) for said in claim.statements]
        for claim in claims
    }
    if hardware:
        assert absent == set()
    else:
        assert absent >= {name for name, needs in counted.items() if all(needs)}
        assert absent <= {name for name, needs in counted.items() if any(needs)}
    assert {result.verdict for result in found.values()} <= set(VERDICTS) - {TOO_FEW}
    assert all(len(result.why.splitlines()) == 1 for result in found.values())
    assert all(set(found[name].scopes) == {"window", "process"} for name in ("A1", "U1"))
