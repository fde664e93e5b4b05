"""The steps: what they report about synthetic figures whose truth is known."""

from pathlib import Path

import pytest

from regatta.judge.analyse import analyse
from regatta.record.read import read
from regatta.record.study import parse_study
from regatta.record.study.find import Design
from regatta.teach.lab.state import LabSetting
from regatta.teach.lab.steps import STEPS
from regatta.teach.lab.steps.counting import counts_in, cpu_s
from regatta.teach.lab.steps.looking_back import (
    NO_GUESS,
    judged_design,
    make_guess,
    said_guess,
    what_was_wrong,
)
from regatta.teach.lab.steps.racing import (
    result_of_race,
    single_runs,
    whole_race,
    winners,
    winners_of_ten,
)
from regatta.teach.lab.tools import Tools
from tests.lab.fake_labs import (
    BY_HAND,
    BY_NAME,
    TOOLS,
    count_by_hand,
    lab_in,
    race_made_up,
)
from tests.lab.reports import cells
from tests.lab.synthetic import make
from tests.lab.teach.printed import perf_text

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures/review"
BASH = "\nreal\t0m2.004s\nuser\t0m0.003s\nsys\t1m0.007s\n"
FAR = {"iterative": 640.0, "thread-per-client": 900.0, "select": 400.0}


def test_a_step_depends_only_on_earlier_ones() -> None:
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(STEPS) == 9
    for number, step in enumerate(STEPS):
        assert set(step.depends_on) <= set(names[:number])
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
def test_counts_of_perf_and_of_time_are_read(
    text: str, counts: dict[str, float], spent_s: float | None, tmp_path: Path
) -> None:
    path = tmp_path / "counted.txt"
    path.write_text(text)
    found = counts_in(path)
    assert {name: found[name] for name in counts} == counts
    assert cpu_s(found) == pytest.approx(spent_s)


def test_a_kernel_event_counted_in_user_space_is_not_0(tmp_path: Path) -> None:
    figures = {"task_clock_ms": 5.0, "elapsed_s": 1.0, "context_switches": 0, "page_faults": 130}
    path = tmp_path / "counted.txt"
    path.write_text(perf_text(figures))
    assert counts_in(path)["context_switches"] == 0
    path.write_text(perf_text(figures).replace("-switches", "-switches:u"))
    assert "context_switches" not in counts_in(path)


def test_the_commands_are_those_that_a_student_would_type(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    server = "bin/regatta-server --design iterative --work classic --no-recorder"
    assert [typed.line for typed in BY_NAME["server"].commands(lab)] == [
        server,
        f"echo top 2 | nc -N 127.0.0.1 7342 2>&1 | tee {tmp_path}/answer.txt",
        "Ctrl-C",
    ]
    typed = BY_NAME["perf"].commands(lab)
    assert typed[0].line == (
        f"perf stat -o {tmp_path}/first/iterative-server.txt taskset -c 0 {server} --quiet"
    )
    assert typed[1].line == (
        f"perf stat -o {tmp_path}/first/iterative-client.txt taskset -c 1 "
        "bin/regatta-client -c 10 --quiet 127.0.0.1:7342"
    )
    assert [typed.terminal for typed in BY_NAME["clients"].commands(lab)] == [1, 2, 3, 2, 3, 1]


def test_missing_tools_are_replaced(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    lab.tools = Tools(**{**vars(TOOLS), "perf": False, "nc": False})
    assert BY_NAME["perf"].commands(lab)[0].line == (
        "{ time taskset -c 0 bin/regatta-server --design iterative --work classic --no-recorder "
        f"--quiet; }} 2> {tmp_path}/first/iterative-server.txt"
    )
    assert "/dev/tcp/127.0.0.1/7342" in BY_NAME["server"].commands(lab)[1].line


@pytest.mark.parametrize(
    ("given", "said", "expected"),
    [
        (None, [""], None),
        (None, ["mill", "iterative 2", "select"], "select"),
        (None, ["mill", ""], None),
        ("select", [], "select"),
    ],
)
def test_the_question_is_repeated_until_the_guess_is_valid(
    given: str | None, said: list[str], expected: str | None, tmp_path: Path
) -> None:
    answers = iter(said)
    lab = lab_in(tmp_path, ask=lambda _: next(answers))
    lab.guess = given
    make_guess(lab)
    assert lab.state.guess == expected
    assert next(answers, None) is None
    (sentence,) = said_guess(lab).said
    assert (sentence == NO_GUESS) == (expected is None)


def test_the_winners_of_runs_are_counted() -> None:
    values = {"a": {1: 1.0, 2: 5.0, 3: 2.0, 4: 1.0}, "b": {1: 2.0, 2: 4.0, 3: 2.0}}
    assert winners(values) == {"a": 2, "b": 2}
    assert winners({"a": {}, "b": {1: 1.0}}) == {"a": 0, "b": 0}
    assert winners({}) == {}


def test_ten_runs_that_agree_have_one_winner_and_a_failed_one_does_not_count(
    tmp_path: Path,
) -> None:
    lab = lab_in(tmp_path)
    race_made_up(lab, cpu_us=FAR, fail={("select", 10, 4)})
    result = winners_of_ten(lab)
    assert result.said == (
        "How often each needed the least CPU in 10 single runs: iterative 0, thread-per-client 0, "
        "select 9.",
    )
    (table,) = result.tables
    assert [row[0] for row in cells(table)] == [str(number) for number in range(1, 11)]
    assert cells(table).pop(3)[3] == "failed"
    assert sum(row[3].startswith("* ") for row in cells(table)) == 9


def test_the_race_names_the_winner_with_an_interval_and_disturbed_trials(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    race_made_up(lab, cpu_us=FAR, disturbed={("select", 10, 2)})
    result = result_of_race(lab)
    (said,) = [said for said in result.said if "disturbed" in said]
    assert said.startswith("1 trial disturbed: other programs")
    assert "select" in result.said[0]
    assert "by a clear margin" in result.said[0]
    rows = {row.name: (row.mark, row.figures[0].value) for row in result.tables[0].rows}
    assert rows["select"] == ("★", "best")
    assert rows["iterative"][1].startswith("×1.5")
    assert (lab.path("race") / "report.html").exists()


@pytest.mark.parametrize(
    ("alike", "named", "word"),
    [
        (False, "select", "Right"),
        (False, "iterative", "Wrong"),
        (True, "select", "Undecided"),
        (True, "thread-per-client", "Wrong"),
    ],
)
def test_a_guess_is_compared_with_the_race(
    alike: bool, named: str, word: str, tmp_path: Path
) -> None:
    spent = FAR | {"iterative": FAR["select"]} if alike else FAR
    path = make(tmp_path / "race.sqlite", connections=(10,), blocks=20, cpu_us=spent)
    assert judged_design([named], analyse(read(path)).groups[0]).startswith(f"{word}: ")


def test_looking_back_names_what_was_wrong(tmp_path: Path) -> None:
    lab = lab_in(tmp_path, guess="select")
    count_by_hand(lab, BY_HAND)
    race_made_up(lab, cpu_us=FAR)
    said = " ".join(what_was_wrong(lab).said)
    assert "The first table's winner: thread-per-client. Wrong: select needs the least" in said
    assert "thread-per-client needed the least CPU time in 0 of 10 single runs." in said
    assert "The guess was select. Right" in said
    assert "One run only" in said
    assert "it is 1.43 times" in said


def test_without_a_first_table_only_the_races_are_reported(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    count_by_hand(lab, BY_HAND)
    for path in (tmp_path / "first").iterdir():
        path.write_text(BASH.replace("1m0", "0m0"))
    race_made_up(lab, cpu_us=FAR)
    said = " ".join(what_was_wrong(lab).said)
    assert "Among the ten identical single runs of" in said
    assert "Do:" not in said


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("made", [single_runs, whole_race])
def test_the_studies_are_valid(made: object, quick: bool) -> None:
    setting = LabSetting(("iterative", "select"), 7, "wait=5ms", quick)
    known = [Design(name, "a design") for name in setting.designs]
    study = parse_study(made(setting), known)
    assert [cell.contender for cell in study.cells] == ["iterative", "select"]
    assert {cell.connections for cell in study.cells} == {7}
    assert study.blocks >= 6
