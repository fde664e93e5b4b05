"""`regatta advise`: near evidence, the ranking rules, and "not measured" without evidence."""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from regatta.advise import Advice, AdviceRequest, advise, make_situation, print_advice, to_dict
from regatta.advise.deciding import MARK
from regatta.advise.power import Spread
from regatta.advise.ranking import rank
from regatta.advise.show import figures
from regatta.advise.situation import Situation, distance
from regatta.analysis.estimates import Estimate
from regatta.analysis.standings import Entry, verdicts
from regatta.analysis.statistics.comparisons_with_best import standings
from regatta.cli.advise import write_study
from regatta.cli.main import app
from regatta.errors import LedgerError, UsageError
from regatta.ledger.schema import FILE_NAME
from regatta.study import parse_study
from regatta.study.design import Design
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_held import add_held
from tests.ledgers import change

MACHINE = {"cpu_model": "Example CPU 9000 at 3.2 GHz", "cpus": 2, "architecture": "x86_64"}
DESIGNS = ("iterative", "fork-per-client", "thread-per-client", "select", "epoll", "reactors")


def situation(connections: int = 100, work: str = "classic", **changes: Any) -> Situation:
    given: dict[str, Any] = {"idle": 0, "rate": None, "cpus": None, "memory": None, **changes}
    return make_situation(
        connections, given["idle"], given["rate"], work, given["cpus"], given["memory"]
    )


def races(place: Path, **changes: Any) -> Path:
    folder = place / "races" / f"race-{len(list(place.glob('races/*')))}"
    folder.mkdir(parents=True)
    make(folder / FILE_NAME, **changes)
    known = json.dumps(dict.fromkeys(changes.get("contenders", DESIGNS), "a design"))
    change(folder, f"UPDATE environment SET value = '{known}' WHERE key = 'designs'")
    return folder


def advised(place: Path, asked: Situation, ledgers: Sequence[Path] = ()) -> Advice:
    return advise(AdviceRequest(asked, ledgers, place / "races", MACHINE, DESIGNS))


def shown(advice: Advice) -> str:
    return reports.printed(print_advice, advice, Path("advise.toml"), width=200)


def favoured(advice: Advice) -> list[str]:
    return [one.measured.design for one in advice.ranking.favoured]


def test_the_design_with_the_least_cpu_leads_with_evidence(tmp_path: Path) -> None:
    folder = races(tmp_path, blocks=12)
    advice = advised(tmp_path, situation())
    assert favoured(advice)[0] == "select"
    assert 2 <= len(favoured(advice)) <= 3
    text = shown(advice)
    assert str(folder) in text
    assert "100 connections, work classic, load burst" in text
    assert "(exactly this)" in text
    assert "times the CPU of select" in text
    assert "µs/request (" in text


def test_beyond_a_factor_of_two_nothing_is_measured(tmp_path: Path) -> None:
    races(tmp_path, connections=(100,))
    assert advised(tmp_path, situation(200)).ranking is not None
    assert advised(tmp_path, situation(50)).ranking is not None
    advice = advised(tmp_path, situation(201))
    assert advice.ranking is None
    assert "Not measured: no cell of 1 race is within a factor of 2" in shown(advice)
    assert "connections 100" in shown(advice)
    # Another kind of work is never near, nor an offered rate where none was raced.
    assert advised(tmp_path, situation(work="wait=5ms")).ranking is None
    assert advised(tmp_path, situation(rate=1000)).ranking is None
    assert advised(tmp_path, situation(idle=50)).ranking is None
    assert advised(tmp_path, situation(cpus=8)).ranking is None


@pytest.mark.parametrize(
    ("design", "measured", "asked", "why"),
    [
        ("select", 1000, 1001, "it can watch about 1,000 connections"),
        ("iterative", 1, 2, "it serves one client at a time"),
        ("prefork-accept", 16, 17, "16 workers serve as many clients at a time"),
        ("prethread-queue", 24, 16, "16 workers serve as many clients at a time"),
    ],
)
def test_figures_do_not_apply_beyond_the_limit_of_a_design(
    tmp_path: Path, design: str, measured: int, asked: int, why: str
) -> None:
    races(tmp_path, contenders=[design, "thread-per-client", "epoll"], connections=(measured,))
    assert design in favoured(advised(tmp_path, situation(measured)))
    advice = advised(tmp_path, situation(asked))
    assert set(favoured(advice)) == {"thread-per-client", "epoll"}
    assert f"Not {design}: {why}, and was measured with {measured:,}, not {asked:,}." in shown(
        advice
    )


def test_idle_connections_count_towards_the_limit(tmp_path: Path) -> None:
    races(tmp_path, contenders=["select", "epoll"], axis="idle", steps=(900,), connections=(100,))
    assert "select" in favoured(advised(tmp_path, situation(1000, idle=90)))
    assert favoured(advised(tmp_path, situation(1100, idle=90))) == ["epoll"]


def at_a_rate(place: Path, rate: int) -> Path:
    """Raced as an open load, in the shape in which `add_held` searches."""
    folder = races(place, connections=(16,), works=("snapshot",), blocks=12)
    change(
        folder,
        f"UPDATE cell SET load = 'open', rate = {rate}, rounds = NULL, duration_s = 0.5, "
        "dialect = 'http', per_connection = 0, max_age_ms = 9",
    )
    change(folder, f"UPDATE trial SET throughput_per_s = {rate}")
    return folder


def test_figures_do_not_apply_at_a_rate_that_needs_more_than_all_cpus(tmp_path: Path) -> None:
    at_a_rate(tmp_path, 1000)
    assert len(favoured(advised(tmp_path, situation(16, "snapshot", rate=1100)))) == 3
    advice = advised(tmp_path, situation(16, "snapshot", rate=1500))
    assert set(favoured(advice)) == {"select", "iterative"}
    assert "1,500 requests/s would need 1.0 of 1 CPUs at its CPU per request" in shown(advice)
    none = advised(tmp_path, situation(16, "snapshot", rate=1900))
    assert none.ranking is None
    assert "Not measured: no design of a near race applies here. iterative: 1,900" in shown(none)
    assert favoured(advised(tmp_path, situation(16, "snapshot", rate=1900, cpus=2)))


def test_figures_do_not_apply_at_a_rate_above_the_one_that_is_held(tmp_path: Path) -> None:
    folder = at_a_rate(tmp_path, 2400)
    add_held(folder / FILE_NAME, {"iterative": 4_000, "select": 20_000}, blocks=4)
    change(folder, "UPDATE counter SET value = value / 10 WHERE event = 'cpu-time'")
    assert "iterative" in favoured(advised(tmp_path, situation(16, "snapshot", rate=3600)))
    advice = advised(tmp_path, situation(16, "snapshot", rate=4600))
    assert set(favoured(advice)) == {"select", "thread-per-client"}
    assert re.search(r"Not iterative: it holds 4,[012]\d\d requests/s", shown(advice))


def test_an_unknown_percentile_excludes_no_other_design(
    tmp_path: Path,
) -> None:
    races(tmp_path, blocks=12)
    ranking = advised(tmp_path, situation()).ranking

    def out(**known: Estimate) -> set[str]:
        measured = [replace(one, p99=known[one.design]) for one in ranking.group.measured]
        named = rank(situation(), replace(ranking.group, measured=measured)).left_out
        return {name for name, why in named if why.startswith("its p99")}

    exact, slow = Estimate(1.0, 0.9, 1.1, 12, "measured"), Estimate(2.5, 2.3, 2.7, 12, "measured")
    open_ended = replace(exact, high=None)
    over = Estimate(None, 2.3, None, 12, "over")
    names = {"iterative": slow, "thread-per-client": over}
    assert out(**names, select=exact) == {"iterative", "thread-per-client"}
    assert out(**names, select=open_ended) == set()
    assert out(**names, select=replace(over, low=0.1)) == set()


def test_without_races_it_says_so_and_proposes_a_study(tmp_path: Path) -> None:
    advice = advised(tmp_path, situation(5000, "snapshot", idle=98, rate=10_000))
    assert "this machine has no races yet" in shown(advice)
    assert advice.deciding is not None
    study = checked(advice)
    assert {cell.contender for cell in study.cells} <= set(DESIGNS)
    assert {(cell.connections, cell.idle, cell.rate) for cell in study.cells} == {
        (100, 4900, 10_000)
    }


def checked(advice: Advice) -> Any:
    """The study, as `regatta race` would read it."""
    pools = ("prefork", "prethread", "reactors")
    known = [Design(name, "", name.startswith(pools)) for name in (*DESIGNS, "prethread-queue")]
    return parse_study(advice.deciding.toml, known)


@pytest.mark.parametrize(
    "asked",
    [
        situation(),
        situation(7),
        situation(60, rate=500),
        situation(1, "spin=50us"),
        situation(100, "wait=5ms", idle=50),
    ],
)
def test_the_deciding_study_is_valid_and_of_the_situation(tmp_path: Path, asked: Situation) -> None:
    races(tmp_path, blocks=4, connections=(10, 100))
    study = checked(advised(tmp_path, asked))
    assert len({cell.contender for cell in study.cells}) >= 2
    for cell in study.cells:
        assert distance(asked, cell, 1) == 0


def test_more_noise_needs_more_blocks(tmp_path: Path) -> None:
    alike = {"iterative": 612.0, "thread-per-client": 612.0, "select": 612.0}
    races(tmp_path, blocks=8, noise=0.1, cpu_us=alike)
    advice = advised(tmp_path, situation())
    assert advice.deciding.blocks > 8
    assert ": not distinguishable; " in shown(advice)


def varying(chance: np.random.Generator, names: Sequence[str], blocks: int) -> dict[str, Any]:
    """Logarithms by block: noise common to a block, and 4 % between two designs."""
    common = chance.normal(0, 0.05, blocks)
    return {name: common + chance.normal(0, 0.04 / 2**0.5, blocks) for name in names}


def test_a_plan_from_few_blocks_has_the_promised_power() -> None:
    """As the planned race decides, for all designs at once."""
    chance = np.random.default_rng(11)
    names = ("best", "dearer", "also dearer")
    detected, planned = [], []
    for _ in range(60):
        seen = varying(chance, names, 6)
        spreads = [
            Spread(float(np.std(seen["best"] - seen[name], ddof=1)), 6) for name in names[1:]
        ]
        planned.append(max(one.needed(1.05, 3, fewest=6, most=60) for one in spreads))
        race = varying(chance, names, planned[-1])
        for name in names[1:]:
            race[name] += math.log(1.05)
        blocks = {name: dict(enumerate(values.tolist())) for name, values in race.items()}
        (found,) = standings([[blocks]])
        detected += [found[name].worse for name in names[1:]]
    assert np.mean(detected) > 0.8
    assert 10 < np.mean(planned) < 25


def test_a_design_that_fails_is_excluded_with_the_reason(tmp_path: Path) -> None:
    folder = races(tmp_path)
    change(
        folder,
        "UPDATE trial SET status = 'failed', reason = 'too many' WHERE cell_id IN "
        "(SELECT id FROM cell WHERE contender = 'select')",
    )
    advice = advised(tmp_path, situation())
    assert "select" not in favoured(advice)
    assert "Not select: every trial failed: too many." in shown(advice)


def test_a_design_with_high_latency_is_excluded(tmp_path: Path) -> None:
    folder = races(tmp_path)
    # select and iterative answer a burst one by one; threads would now be ten times as quick.
    change(
        folder,
        "UPDATE trial SET samples = (SELECT samples FROM trial AS quick JOIN cell ON cell.id = "
        "quick.cell_id WHERE connections = 1 AND quick.block = trial.block LIMIT 1) "
        "WHERE cell_id IN (SELECT id FROM cell WHERE contender = 'thread-per-client')",
    )
    advice = advised(tmp_path, situation())
    assert favoured(advice) == ["thread-per-client"]
    assert "Not select: its p50 is" in shown(advice)


def test_a_design_that_answers_less_than_the_offered_rate_is_excluded(tmp_path: Path) -> None:
    folder = races(tmp_path, connections=(100,))
    change(folder, "UPDATE cell SET load = 'open', rate = 1000, rounds = NULL, duration_s = 1")
    change(folder, "UPDATE trial SET throughput_per_s = 999")
    slow = "(SELECT id FROM cell WHERE contender = 'iterative')"
    change(folder, f"UPDATE trial SET throughput_per_s = 200 WHERE cell_id IN {slow}")
    advice = advised(tmp_path, situation(rate=1200))
    assert "iterative" not in favoured(advice)
    assert "Not iterative: it answered 200 of 1,000 requests/s." in shown(advice)


def test_a_design_that_does_not_hold_the_rate_is_excluded(tmp_path: Path) -> None:
    """97 % started answers nearly all, but the race itself gives it no star."""
    folder = races(tmp_path, connections=(100,))
    change(folder, "UPDATE cell SET load = 'open', rate = 1000, rounds = NULL, duration_s = 1")
    change(folder, "UPDATE trial SET throughput_per_s = 999")
    late = "(SELECT id FROM cell WHERE contender = 'select')"
    unstarted = "json_object('connections', 100, 'unstarted', requests / 32)"
    change(folder, f"UPDATE trial SET client = {unstarted} WHERE cell_id IN {late}")
    advice = advised(tmp_path, situation(rate=1000))
    assert "select" not in favoured(advice)
    assert "Not select: it does not hold the rate: started 97.0 % of due requests." in shown(advice)


def test_the_nearest_race_is_used_and_of_equally_near_ones_the_newest(tmp_path: Path) -> None:
    first = races(tmp_path)
    second = races(tmp_path)
    races(tmp_path, connections=(90,))
    change(first, "UPDATE meta SET value = '1760000001' WHERE key = 'created_at'")
    advice = advised(tmp_path, situation())
    assert advice.ranking.group.race == first / FILE_NAME
    assert advice.others[0].race == second / FILE_NAME


def test_races_of_other_machines_are_used_only_if_named(tmp_path: Path) -> None:
    folder = races(tmp_path)
    change(folder, "UPDATE environment SET value = '\"Other\"' WHERE key = 'cpu_model'")
    advice = advised(tmp_path, situation())
    assert advice.ranking is None
    assert "Left out 1 race of other machines" in shown(advice)
    named = advised(tmp_path, situation(), [folder])
    assert named.ranking is not None
    assert "On this machine: not measured" in shown(named)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda race: (race / FILE_NAME).write_text("precious"), "not a ledger"),
        (lambda race: change(race, "UPDATE trial SET samples = x'00'"), "samples"),
    ],
)
def test_a_damaged_ledger_is_skipped_or_an_error_if_named(
    tmp_path: Path, damage: Callable[[Path], object], words: str
) -> None:
    races(tmp_path)
    bad = races(tmp_path)
    damage(bad)
    advice = advised(tmp_path, situation())
    assert advice.ranking is not None
    assert advice.ledgers == 1
    assert any(note.startswith(f"Not read: {bad / FILE_NAME}: {words}") for note in advice.notes)
    with pytest.raises(LedgerError, match=FILE_NAME):
        advised(tmp_path, situation(), [bad])


def test_false_alarms_among_equal_designs_stay_within_the_level(tmp_path: Path) -> None:
    """One family, as in the standings of a race."""
    alike = {"iterative": 612.0, "thread-per-client": 612.0, "select": 612.0}
    races(tmp_path, blocks=12, cpu_us=alike)
    advice = advised(tmp_path, situation())
    place = advice.ranking.group
    verdict = verdicts({1: {one.design: Entry(one.blocks) for one in place.measured}}).overall
    best, *others = advice.ranking.favoured
    undecided = {one.measured.design for one in others if one.undecided}
    assert {best.measured.design} | undecided == set(verdict.best)
    assert "hold simultaneously at 95 %" in shown(advice)


def test_a_lead_that_busy_time_does_not_show_is_undecided(tmp_path: Path) -> None:
    charged = {"iterative": 90.0, "select": 100.0, "thread-per-client": 150.0}
    busy = {"iterative": 4 / 3, "select": 1.2, "thread-per-client": 1.2}
    races(tmp_path, blocks=12, cpu_us=charged, busy=busy)
    advice = advised(tmp_path, situation())
    found = {one.measured.design: one.undecided for one in advice.ranking.favoured[1:]}
    assert found == {"select": True}
    assert re.search(
        r"charged 1\.1\d* times the CPU of iterative \(.+\), which busy time does not show",
        shown(advice),
    )


def test_a_pool_is_ranked_by_its_best_size(tmp_path: Path) -> None:
    folder = races(
        tmp_path, axis="workers", steps=(5, 15), pools={"select"}, connections=(100,), blocks=12
    )
    large = "(SELECT id FROM cell WHERE contender = 'select' AND workers = 15)"
    change(
        folder,
        "UPDATE counter SET value = 3 * value WHERE event = 'cpu-time' AND trial_id IN "
        f"(SELECT id FROM trial WHERE cell_id IN {large})",
    )
    advice = advised(tmp_path, situation())
    assert favoured(advice)[0] == "select"
    assert advice.ranking.favoured[0].measured.cell.workers == 5
    assert all(one.against_best for one in advice.ranking.favoured[1:])


def test_a_design_with_another_path_is_compared_with_the_others(tmp_path: Path) -> None:
    folder = races(tmp_path, connections=(100,))
    change(folder, "UPDATE cell SET path = '/own' WHERE contender = 'iterative'")
    assert len(favoured(advised(tmp_path, situation()))) > 1
    assert not advised(tmp_path, situation()).others


def test_the_default_work_is_that_of_most_studies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command in the README."""
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["advise", "--connections", "1000", "--rate", "5000"])
    assert found.exit_code == 0, found.output
    assert "1,000 connections, 5,000 requests/s, work classic" in found.output


def test_memory_is_not_measured(tmp_path: Path) -> None:
    races(tmp_path)
    advice = advised(tmp_path, situation(memory="512M"))
    assert advice.situation.memory_bytes == 512 * 2**20
    assert "Memory: not measured" in shown(advice)


def with_memory(place: Path, connections: int = 100) -> None:
    """A race with `whole_cost`: 40 MiB, and 20 MiB in the kernel, of select; 4 of the others."""
    folder = races(place, connections=(connections,), blocks=12)
    for event, most in (("memory", 40), ("kernel-memory", 20)):
        change(
            folder,
            "INSERT INTO counter SELECT trial.id, 'server', 'kernel', "
            f"'{event}', iif(contender = 'select', {most}, 2) * 1048576.0, 'bytes', 100, 'counted' "
            "FROM trial JOIN cell ON cell.id = cell_id",
        )


def test_measured_memory_is_shown_and_excludes_what_does_not_fit(tmp_path: Path) -> None:
    with_memory(tmp_path)
    roomy = advised(tmp_path, situation(memory="61M"))
    assert favoured(roomy)[0] == "select"
    assert "memory 40.0 MiB" in shown(roomy)
    assert "kernel memory 20.0 MiB" in shown(roomy)
    assert "Memory: not measured" not in shown(roomy)
    small = advised(tmp_path, situation(memory="59M"))
    assert "select" not in favoured(small)
    assert "Not select: with 100 connections it held 60.0 MiB, and there are 59.0" in shown(small)


def test_memory_with_more_connections_excludes_nothing(tmp_path: Path) -> None:
    with_memory(tmp_path)
    assert favoured(advised(tmp_path, situation(60, memory="59M")))[0] == "select"


def test_the_deciding_study_measures_memory_if_it_matters(tmp_path: Path) -> None:
    assert checked(advised(tmp_path, situation(memory="1G"))).whole_cost
    assert not checked(advised(tmp_path, situation())).whole_cost


def test_a_study_for_more_cpus_than_the_machine_has_cannot_run_here(tmp_path: Path) -> None:
    advice = advised(tmp_path, situation(cpus=2))
    assert "needs 2 CPUs and one for the client; there are 2" in advice.deciding.cannot
    assert checked(advice).server_cpus == (0, 1)


def test_json_has_the_evidence(tmp_path: Path) -> None:
    races(tmp_path)
    plain = json.loads(json.dumps(to_dict(advised(tmp_path, situation()), Path("a.toml"))))
    assert plain["measured"] is True
    first, second = plain["favoured"][:2]
    assert first["against_best"] is None
    assert second["against_best"]["low"] <= second["against_best"]["value"]
    assert plain["deciding"]["study"] == "a.toml"
    empty = to_dict(advised(tmp_path / "none", situation()), Path("a.toml"))
    assert empty["measured"] is False
    assert empty["favoured"] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"connections": 0}, "--connections"),
        ({"work": "magic"}, "--work"),
        ({"idle": 101}, "--idle"),
        ({"rate": 0}, "--rate"),
        ({"cpus": 0}, "--cpus"),
        ({"memory": "lots"}, "--memory"),
        ({"memory": "0"}, "--memory"),
    ],
)
def test_invalid_options_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        situation(**changes)


def test_a_study_that_advise_did_not_write_is_not_overwritten(tmp_path: Path) -> None:
    deciding = advised(tmp_path, situation()).deciding
    path = tmp_path / "advise.toml"
    assert write_study(path, deciding) is None
    assert write_study(path, deciding) is None
    assert path.read_text().startswith(MARK)
    before = f"{MARK}\nedited since"
    path.write_text(before)
    kept = write_study(path, deciding)
    assert kept == tmp_path / "advise.toml.old"
    assert (kept.read_text(), path.read_text()) == (before, deciding.toml)
    path.write_text("precious")
    with pytest.raises(UsageError, match="--study"):
        write_study(path, deciding)
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    ("what", "blocks", "words"),
    [
        ("client_bound", 12, "select was client-bound and may need less."),
        ("held_up", 12, "select was disturbed and may need less."),
        ("fail", 12, "select failed and may need less."),
        ("fail", 4, "select failed in 4 of 10 trials and may need less."),
    ],
)
def test_a_design_that_was_not_measured_may_need_less(
    what: str, blocks: int, words: str, tmp_path: Path
) -> None:
    races(tmp_path, **{what: {("select", 100, block) for block in range(1, blocks + 1)}})
    advice = advised(tmp_path, situation())
    assert "select" not in favoured(advice)
    assert words in shown(advice)
    assert to_dict(advice, Path("a.toml"))["may_need_less"][0]["design"] == "select"


def test_a_client_bound_design_with_a_higher_cost_does_not_need_less(tmp_path: Path) -> None:
    bound = {("thread-per-client", 100, block) for block in range(1, 13)}
    races(tmp_path, client_bound=bound)
    text = shown(advised(tmp_path, situation()))
    assert "Not thread-per-client: not measured: client-bound" in text
    assert "may need less" not in text


def test_a_lower_bound_of_a_latency_has_its_unit(tmp_path: Path) -> None:
    races(tmp_path)
    (one, *_) = advised(tmp_path, situation()).ranking.group.measured
    longer = replace(one, p99=Estimate(None, 512.0, None, 12, "over"))
    assert "p99 > 512 ms" in figures(longer)
