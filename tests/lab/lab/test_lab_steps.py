"""The steps: what they say of made-up figures whose truth is known."""

from dataclasses import replace
from pathlib import Path

import pytest

from regatta.analysis.analyse import analyse
from regatta.errors import UsageError
from regatta.lab import studies
from regatta.lab.counts import counts_in, cpu_s
from regatta.lab.judge import judged_design, judged_guess
from regatta.lab.setting import Setting
from regatta.lab.state import Guess, State
from regatta.lab.step import Desk
from regatta.lab.steps import STEPS
from regatta.lab.steps.asking import AskByHand, AskWithMany
from regatta.lab.steps.counting import CountBothSides, MakeTable
from regatta.lab.steps.guessing import NO_GUESS, MakeGuess, check_guess
from regatta.lab.steps.looking_back import LookBack, start_and_end
from regatta.lab.steps.racing import RaceThem, RunTenTimes, winners
from regatta.lab.tools import Tools
from regatta.ledger.read import read
from regatta.study import parse_study
from regatta.study.design import Design
from tests.lab.labs import (
    BY_HAND,
    THREE,
    TOOLS,
    count_by_hand,
    desk_in,
    never_raced,
    nobody,
    race_made_up,
)
from tests.lab.review.printed import perf_text
from tests.lab.synthetic import make

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures/review"
BASH = "\nreal\t0m2.004s\nuser\t0m0.003s\nsys\t1m0.007s\n"
FAR = {"iterative": 640.0, "thread-per-client": 900.0, "select": 400.0}


def test_a_step_rests_on_earlier_ones_alone() -> None:
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(STEPS) == 9
    for number, step in enumerate(STEPS):
        assert set(step.rests_on) <= set(names[:number])
        assert step.text
        assert step.questions


@pytest.mark.parametrize(
    ("text", "counts", "spent_s"),
    [
        (BASH, {"elapsed": 2.004, "user": 0.003, "system": 60.007}, 60.01),
        (BASH.replace(".", ","), {"elapsed": 2.004}, 60.01),
        ((FIXTURES / "indian.txt").read_text(), {"cycles": 416830285}, 0.10263),
        ("the server said nothing\n", {}, None),
    ],
)
def test_what_was_counted_is_read(
    text: str, counts: dict[str, float], spent_s: float | None, tmp_path: Path
) -> None:
    path = tmp_path / "counted.txt"
    path.write_text(text)
    found = counts_in(path)
    assert {name: found[name] for name in counts} == counts
    assert cpu_s(found) == pytest.approx(spent_s)


def test_what_perf_did_not_see_is_not_0(tmp_path: Path) -> None:
    figures = {"task_clock_ms": 5.0, "elapsed_s": 1.0, "context_switches": 0, "page_faults": 130}
    path = tmp_path / "counted.txt"
    path.write_text(perf_text(figures))
    assert counts_in(path)["context_switches"] == 0
    path.write_text(perf_text(figures).replace("-switches", "-switches:u"))
    assert "context_switches" not in counts_in(path)


def test_the_commands_are_those_of_a_person(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    server = "bin/regatta-server --design iterative --work classic --no-recorder"
    assert [typed.line for typed in AskByHand().commands(desk)] == [
        server,
        f"echo top 2 | nc -N 127.0.0.1 7342 2>&1 | tee {tmp_path}/answer.txt",
        "Ctrl-C",
    ]
    typed = CountBothSides().commands(desk)
    assert typed[0].line == (
        f"perf stat -o {tmp_path}/first/iterative-server.txt taskset -c 0 {server} --quiet"
    )
    assert typed[1].line == (
        f"perf stat -o {tmp_path}/first/iterative-client.txt taskset -c 1 "
        "bin/regatta-client -c 10 --quiet 127.0.0.1:7342"
    )
    assert [typed.terminal for typed in AskWithMany().commands(desk)] == [1, 2, 3, 2, 3, 1]


def test_without_the_tools_others_stand_in(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    desk.tools = Tools(**{**vars(TOOLS), "perf": False, "taskset": False, "nc": False})
    assert CountBothSides().commands(desk)[0].line == (
        "{ time bin/regatta-server --design iterative --work classic --no-recorder "
        f"--quiet --cpus 0; }} 2> {tmp_path}/first/iterative-server.txt"
    )
    assert "/dev/tcp/127.0.0.1/7342" in AskByHand().commands(desk)[1].line


@pytest.mark.parametrize(
    ("said", "guess"),
    [
        ([""], None),
        (["select", ""], Guess("select")),
        (["select", "1,25"], Guess("select", 1.25)),
        (["mill", "select", "0.5", "much", "2"], Guess("select", 2.0)),
        (["mill", ""], None),
    ],
)
def test_a_guess_is_asked_for_until_it_is_one(
    said: list[str], guess: Guess | None, tmp_path: Path
) -> None:
    answers = iter(said)
    desk = desk_in(tmp_path, ask=lambda _: next(answers))
    MakeGuess().run(desk)
    assert desk.state.guess == guess
    assert next(answers, None) is None
    (sentence,) = MakeGuess().keep(desk).said
    assert (sentence == NO_GUESS) == (guess is None)


def test_a_guess_of_the_command_line_asks_nobody(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, ask=lambda _: pytest.fail("nobody is asked"))
    desk.guess = Guess("select", 1.2)
    MakeGuess().run(desk)
    assert desk.state.guess == Guess("select", 1.2)


@pytest.mark.parametrize("guess", [Guess("epoll"), Guess("select", 0.9), Guess("select", 1e9)])
def test_a_guess_that_nothing_could_meet_is_refused(guess: Guess) -> None:
    with pytest.raises(UsageError, match=r"--guess|--by"):
        check_guess(guess, Setting(designs=THREE))


def test_who_won_each_run_is_counted() -> None:
    values = {"a": {1: 1.0, 2: 5.0, 3: 2.0, 4: 1.0}, "b": {1: 2.0, 2: 4.0, 3: 2.0}}
    assert winners(values) == {"a": 2, "b": 2}
    assert winners({"a": {}, "b": {1: 1.0}}) == {"a": 0, "b": 0}
    assert winners({}) == {}


def test_ten_runs_that_agree_have_one_winner(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    race_made_up(desk, cpu_us=FAR)
    kept = RunTenTimes().keep(desk)
    assert kept.said == (
        "Least server CPU in so many of 10 single runs: iterative 0, thread-per-client 0, "
        "select 10.",
    )
    (table,) = kept.tables
    assert [row[0] for row in table.rows] == [str(number) for number in range(1, 11)]
    assert all(row[3].startswith("* ") for row in table.rows)


def test_a_run_that_failed_is_in_no_count(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    race_made_up(desk, cpu_us=FAR, fail={("select", 10, 4)})
    kept = RunTenTimes().keep(desk)
    assert kept.said[0].endswith("iterative 0, thread-per-client 0, select 9.")
    assert kept.tables[0].rows[3][3] == "failed"


def test_the_race_says_who_won_with_its_interval(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    race_made_up(desk, cpu_us=FAR)
    kept = RaceThem().keep(desk)
    assert "select" in kept.said[0]
    assert "by a clear margin" in kept.said[0]
    rows = {row[0]: row for row in kept.tables[0].rows}
    assert rows["select ★"][3] == "best"
    assert rows["iterative"][3].startswith("×1.5")
    assert (desk.path("race") / "report.html").exists()


def test_the_race_says_that_others_disturbed_it(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    race_made_up(desk, cpu_us=FAR, disturbed={("select", 10, 2)})
    (said,) = [said for said in RaceThem().keep(desk).said if "disturbed" in said]
    assert said.startswith("1 trial disturbed: other programs")


def test_what_is_not_told_from_the_best_is_marked_before_its_figure(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    race_made_up(desk, cpu_us={"iterative": 600.0, "thread-per-client": 900.0, "select": 600.0})
    (table,) = RaceThem().keep(desk).tables
    figures = [row[3] for row in table.rows]
    assert sum(figure.startswith("≈ ×1.0") for figure in figures) == 1
    assert all(figure[-1] in "0123456789t" for figure in figures), "nothing stands behind one"
    assert "≈ not distinguishable from the best" in table.says


@pytest.mark.parametrize(
    ("guess", "words"),
    [
        (Guess("select", 1.6), ["Right: select needs the least", "lies within"]),
        (Guess("iterative", 3.0), ["Wrong: select needs the least", "lies outside"]),
        (Guess("select"), ["Right"]),
    ],
)
def test_a_guess_is_held_against_a_clear_race(
    guess: Guess, words: list[str], tmp_path: Path
) -> None:
    path = make(tmp_path / "clear.sqlite", connections=(10,), blocks=20, cpu_us=FAR)
    said = judged_guess(guess, analyse(read(path)).groups[0])
    assert len(said) == len(words)
    for sentence, word in zip(said, words, strict=True):
        assert word in sentence


def test_a_guess_outside_the_interval_is_not_seen_within_it(tmp_path: Path) -> None:
    path = make(tmp_path / "clear.sqlite", connections=(10,), blocks=20, cpu_us=FAR)
    group = analyse(read(path)).groups[0]
    for guess, low, words in (
        (1.0, 1.000001, "1.06 times (over 1, at most 1.12): it lies outside"),
        (1.02, 1.023, "1.060 times (1.023–1.120): it lies outside"),
    ):
        verdict = replace(group.overall, lead=1.06, low=low, high=1.12)
        said = judged_guess(Guess("select", guess), replace(group, overall=verdict))
        assert words in said[1]


def test_a_guess_is_neither_right_nor_wrong_where_nobody_can_say(tmp_path: Path) -> None:
    alike = {"iterative": 600.0, "thread-per-client": 900.0, "select": 600.0}
    path = make(tmp_path / "alike.sqlite", connections=(10,), blocks=20, cpu_us=alike)
    group = analyse(read(path)).groups[0]
    assert judged_design(["select"], group).startswith("Nobody can say: ")
    assert judged_design(["thread-per-client"], group).startswith("Wrong: ")


def test_looking_back_names_what_was_wrong(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, guess=Guess("select", 1.6))
    count_by_hand(desk, BY_HAND)
    race_made_up(desk, cpu_us=FAR)
    said = " ".join(LookBack().keep(desk).said)
    assert "The first table's winner: thread-per-client. Wrong: select needs the least" in said
    assert "In 10 single runs thread-per-client needed the least 0 times." in said
    # 14 ms in the table, 10 requests of some 0.9 ms in the race.
    assert "Start, end and cold memory" in said
    assert "The guess was select. Right" in said
    assert "One run only" in said
    assert "times the smallest" in said


def test_looking_back_at_nothing_says_what_the_races_say(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    count_by_hand(desk, BY_HAND)
    for path in (tmp_path / "first").iterdir():
        path.write_text(BASH.replace("1m0", "0m0"))
    race_made_up(desk, cpu_us=FAR)
    said = " ".join(LookBack().keep(desk).said)
    assert "Of ten single runs of" in said
    assert "Do:" not in said


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("made", [studies.single_runs, studies.whole_race])
def test_the_studies_are_such(made: object, quick: bool) -> None:
    setting = Setting(("iterative", "select"), 7, "wait=5ms", quick)
    known = [Design(name, "a design") for name in setting.designs]
    study = parse_study(made(setting), known)
    assert [cell.contender for cell in study.cells] == ["iterative", "select"]
    assert {cell.connections for cell in study.cells} == {7}
    assert study.blocks >= 6


def test_the_page_shows_the_same_commands() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/lab.md").read_text()
    desk = Desk(Path("lab"), State(Setting()), TOOLS, never_raced, nobody, print)
    for number, step in enumerate(STEPS, start=1):
        assert f"## {number}. {step.title}\n" in page
        for typed in () if isinstance(step, MakeTable) else step.commands(desk):
            assert typed.line in page


def test_what_is_no_request_is_what_the_race_does_not_need() -> None:
    race = {"select": {1: 900.0, 2: 1100.0}, "epoll": {1: 1000.0}, "poll": {}}
    single = {"select": {1: 1900.0, 2: 2100.0}, "epoll": {1: 900.0}, "poll": {1: 5.0}}
    assert start_and_end(single, race) == [
        "Start, end and cold memory, in single runs and in no request of the race: "
        "on average select 50 % of the figures."
    ]
    assert start_and_end({"epoll": single["epoll"]}, race) == []
