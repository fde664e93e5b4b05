"""What people paste today: perf since 6.19, a part of the machine a line, colours, quotes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.errors import UsageError
from regatta.teach.review.review import read
from tests.lab.teach.drawn import counted
from tests.lab.teach.found import contradictions, findings, named, reading
from tests.lab.teach.printed import LOCALES, perf_text

FIXTURES = Path(__file__).parents[1] / "fixtures" / "review"
NEW = (FIXTURES / "perf-6.19.txt").read_text()


def test_the_metrics_of_perf_6_19_are_read() -> None:
    big, small = reading(NEW).records
    found = {name: figure.value for name, figure in big.figures.items()}
    assert found["cycles"] == 3_000_000_000, "cpu-cycles"
    assert (found["cpus_utilized"], found["ghz"], found["instructions_per_cycle"]) == (0.5, 3, 0.8)
    assert found["stalled_cycles_frontend_percent"] == pytest.approx(18)
    assert (found["branches_per_s"], found["context_switches_per_s"]) == (5e8, 1204)
    assert [found[f"tma_{name}"] for name in ("retiring", "backend_bound")] == [47.5, 31.4]
    assert small.figures["branches"].running == 1.02
    assert small.figures["tma_backend_bound"].value == 40
    assert contradictions(NEW) == [], "perf computes metrics from other groups of counters"
    assert reading(NEW).left == ()


@pytest.mark.parametrize(
    ("printed", "other", "words"),
    [
        ("0.5 CPUs", "0.9 CPUs", "= 0.5 CPUs utilized, but 0.9 CPUs utilized is printed"),
        ("3.0 GHz", "4.2 GHz", "= 3 GHz, but 4.2 GHz is printed"),
        ("0.8 instructions", "1.9 instructions", "= 0.8 insn per cycle, but 1.9 insn"),
        ("3.5 %", "9.5 %", "= 3.498 %, but 9.5 % is printed"),
        ("500.0 M/sec", "900.0 M/sec", "= 500 M/sec, but 900.0 M/sec is printed"),
        ("1204.0 cs/sec", "2204.0 cs/sec", "= 1,204 /sec, but 2204.0 /sec is printed"),
        ("3.0 migrations", "9.0 migrations", "= 3 /sec, but 9.0 /sec is printed"),
        ("156.0 faults", "256.0 faults", "= 156 /sec, but 256.0 /sec is printed"),
        ("0.18 frontend", "0.58 frontend", "= 0.18 of cycles, but 0.58 of cycles is printed"),
    ],
)
def test_each_of_its_metrics_is_held_against_its_counts(
    printed: str, other: str, words: str
) -> None:
    (found,) = contradictions(NEW.replace(printed, other))
    assert words in found.says


@pytest.mark.parametrize(("ran", "found"), [("26.24", False), ("50.24", True)])
def test_a_metric_of_a_group_that_hardly_ran_is_not_held_against_another(
    ran: str, found: bool
) -> None:
    text = f"  102,343 branch-misses # 11.0 %  branch_miss_rate ({ran}%)\n  1,303,071 branches"
    assert bool(contradictions(text)) == found


def test_an_event_that_it_prints_again_for_another_metric_begins_no_run() -> None:
    text = "  1,000 cpu-cycles # 0.0 GHz  cycles_frequency\n  5 branches\n"
    text += "  1,100 cpu-cycles # 1.0 instructions  insn_per_cycle\n"
    assert len(reading(text).records) == 1
    assert len(reading(text + text).records) == 2


@given(counted(), st.sampled_from(["en_US", "de_DE", "C"]))
def test_one_decimal_contradicts_nothing(figures: dict[str, float], locale: str) -> None:
    write = LOCALES[locale]
    task_s = figures["task_clock_ms"] / 1e3
    rate = figures["branches"] / task_s / 1e6
    replaced = {
        "task_clock_ms": f"{write.decimal(task_s / figures['elapsed_s'], 1)} CPUs  CPUs_utilized",
        "cycles": f"{write.decimal(figures['cycles'] / task_s / 1e9, 1)} GHz  cycles_frequency",
        "branches": f"{write.decimal(rate, 1)} M/sec  branch_frequency",
    }
    assert contradictions(perf_text(figures, write, replaced=replaced)) == []


@pytest.mark.parametrize("form", ["txt", "csv", "json"])
def test_each_core_has_its_own_record_of_one_run(form: str) -> None:
    found = read(str(FIXTURES / f"per-core.{form}"))
    parts = [record.keys["part"].removeprefix("core ") for record in found.records]
    assert (parts, found.left) == (["S0-D0-C0", "S0-D0-C1"], ())
    assert len({record.place for record in found.records}) == 1


def test_each_cpu_and_socket_is_read() -> None:
    assert [one.keys["part"] for one in read(str(FIXTURES / "per-cpu.txt")).records] == [
        "CPU0",
        "CPU1",
    ]
    (socket,) = read(str(FIXTURES / "per-socket.txt")).records
    assert socket.figures["context_switches"].value == 3485
    cores = (FIXTURES / "per-core.txt").read_text()
    assert [one.check.name for one in findings(cores)] == ["one-run"]
    (found,) = contradictions(cores.replace("8.115 K/sec", "5.115 K/sec"))
    assert found.subject == "system wide, S0-D0-C1"


@pytest.mark.parametrize(
    ("file", "words"),
    [("per-cpu-intervals.txt", "perf stat .without -I."), ("intervals.json", "a part of a run")],
)
def test_intervals_are_parts_of_one_run_and_refused(file: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read(str(FIXTURES / file))


def test_intervals_with_separators_are_refused_too(tmp_path: Path) -> None:
    file = tmp_path / "intervals.csv"
    file.write_text(
        "     0.200256501,2.47,msec,task-clock,2471929,100.00,0.012,CPUs utilized\n" * 3
    )
    with pytest.raises(UsageError, match="without -I"):
        read(str(file))


def test_of_intervals_with_a_summary_the_summary_is_read() -> None:
    found = read(str(FIXTURES / "intervals.txt"))
    (record,) = found.records
    assert record.figures["elapsed"].value > 1
    assert len(found.left) > 20, "the intervals are lines that were not read"


QUIET = {"task_clock_ms": 500.0, "elapsed_s": 1.0, "cycles": 10**9, "instructions": 10**9}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (perf_text(QUIET | {"task_clock_ms": 18_446_744_073_709.0}), "CPUs."),
        (perf_text(QUIET | {"instructions": 2**64 - 1}), "ran below 0"),
        (perf_text(QUIET | {"instructions": 20 * 10**9}), "no CPU retires more than 12"),
        (perf_text(QUIET).replace("1.00  insn", "20.00  insn"), "no CPU retires more than 12"),
        ("design,cycles,task_clock_ms\na,-5,1\n", "less than nothing"),
        ("server,rps,p99_ms\na,-5,1\n", "less than nothing"),
    ],
)
def test_what_no_machine_has_is_named(text: str, words: str) -> None:
    (found,) = named("impossible", text)
    assert words in found.says
    repeated = text.replace(":\n", " (5 runs):\n")
    assert len(named("impossible", repeated)) == 1, "also in a mean of several runs"


def test_lines_that_no_reader_understood_are_counted() -> None:
    text = perf_text(QUIET) + "\nthe 5th of 7 was odd\n  12 34 what\nno digit\n"
    assert [text.splitlines()[number - 1] for number in reading(text).left] == [
        "the 5th of 7 was odd",
        "  12 34 what",
    ]


TEXTS = [
    NEW,
    (FIXTURES / "hybrid.txt").read_text(),
    (FIXTURES / "intervals.txt").read_text(),
    (FIXTURES / "per-core.csv").read_text(),
    (FIXTURES / "french.json").read_text(),
    (FIXTURES / "as-printed.csv").read_text(),
    "| design | cycles |\n| --- | --- |\n| a | 5 |\n",
    *(path.read_text() for path in sorted((FIXTURES / "load").glob("*.txt"))),
]


@given(st.sampled_from(TEXTS), st.data())
def test_quoting_and_colouring_a_text_changes_nothing(text: str, data: st.DataObject) -> None:
    quote = data.draw(st.sampled_from(["> ", ">", "> > ", " > "]))
    codes = st.sampled_from(["\x1b[31m", "\x1b[m", "\x1b[1;32m", "\x1b[0K"])
    at = data.draw(st.lists(st.tuples(st.integers(0, len(text)), codes), max_size=8))
    coloured = text
    for place, code in sorted(at, reverse=True):
        coloured = coloured[:place] + code + coloured[place:]
    quoted = "".join(f"{quote}{line}\n" for line in coloured.split("\n"))
    for other in (coloured, quoted):
        assert reading(other).records == reading(text).records
        assert findings(other) == findings(text)
