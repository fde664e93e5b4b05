"""Output of perf stat in every locale becomes the same records, however it was pasted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.teach.found import (
    FIXTURES,
    contradictions,
    counted,
    findings,
    named,
    reading,
    values,
)
from tests.lab.teach.printed import LOCALES, perf_text

FIGURES = {
    "task_clock_ms": 102.63,
    "context_switches": 11,
    "page_faults": 133,
    "cycles": 323_489_760,
    "instructions": 416_830_285,
    "branches": 77_468_976,
    "branch_misses": 301_714,
    "elapsed_s": 12.035832585,
    "user_s": 0.0129,
    "system_s": 0.090727,
}
QUIET = {"task_clock_ms": 500.0, "elapsed_s": 1.0, "cycles": 10**9, "instructions": 10**9}
NEW = (FIXTURES / "perf-6.19.txt").read_text()


@pytest.mark.parametrize("locale", LOCALES)
def test_perf_is_read_in_every_locale(locale: str) -> None:
    (record,) = reading("Table 3\n" + perf_text(FIGURES, LOCALES[locale], "./a b:1")).records
    found = values(record)
    assert record.label == "./a b:1"
    assert {found[name] for name in ("cycles", "branches")} == {323_489_760, 77_468_976}
    assert found["task_clock"] == pytest.approx(0.10263)
    assert (found["elapsed"], found["user"]) == pytest.approx((12.035832585, 0.0129))
    assert found["ghz"] == 3.152
    assert found["branch_misses_percent"] == 0.39
    assert found["page_faults_per_s"] == pytest.approx(1296)
    assert record.figures["cycles"].text == LOCALES[locale].whole(323_489_760)


@pytest.mark.parametrize(
    ("name", "syscalls"), [("german", 12_886), ("french", None), ("runs", 12_817)]
)
def test_what_perf_was_recorded_to_print_is_read(name: str, syscalls: int | None) -> None:
    (record,) = reading((FIXTURES / f"{name}.txt").read_text()).records
    assert len(record.figures) > 7
    assert record.label == "find . -name x*"
    assert record.repeated == (name == "runs")
    assert syscalls in (None, record.figures["syscalls"].value)
    assert record.figures["syscalls"].value > 1000


def test_the_share_of_the_time_and_the_kind_of_core_are_read() -> None:
    big, small = reading((FIXTURES / "hybrid.txt").read_text()).records
    assert (big.keys["core"], small.keys["core"]) == ("cpu_core", "cpu_atom")
    assert (big.figures["cycles"].value, small.figures["cycles"].value) == (56_221_899, 11_004_211)
    assert big.figures["tma_backend_bound"].value == 18.5
    assert small.figures["branches"].running == 28.7
    assert "elapsed" not in small.figures


def test_several_outputs_in_one_file_are_several_runs() -> None:
    text = perf_text(FIGURES, command="./a") + perf_text(FIGURES, command="./b")
    assert [record.label for record in reading(text).records] == ["./a", "./b"]
    pasted = "  10.00 msec task-clock\n  5  cycles\n  11.00 msec task-clock\n  6  cycles\n"
    assert [record.figures["cycles"].value for record in reading(pasted).records] == [5, 6]
    text = "  1,000 cpu-cycles # 0.0 GHz  cycles_frequency\n  5 branches\n"
    text += "  1,100 cpu-cycles # 1.0 instructions  insn_per_cycle\n"
    assert len(reading(text).records) == 1, "perf 6.19 prints it again for another metric"
    assert len(reading(text + text).records) == 2


def test_the_old_way_to_print_milliseconds_is_read() -> None:
    (record,) = reading("   102.632452  task-clock (msec)  #  0.009 CPUs utilized\n").records
    assert record.figures["task_clock"].value == pytest.approx(0.102632452)


def test_the_metrics_of_perf_6_19_are_read() -> None:
    big, small = reading(NEW).records
    found = values(big)
    assert found["cycles"] == 3_000_000_000, "cpu-cycles"
    assert (found["cpus_utilized"], found["ghz"], found["instructions_per_cycle"]) == (0.5, 3, 0.8)
    assert found["stalled_cycles_frontend_percent"] == pytest.approx(18)
    assert (found["branches_per_s"], found["context_switches_per_s"]) == (5e8, 1204)
    assert [found[f"tma_{name}"] for name in ("retiring", "backend_bound")] == [47.5, 31.4]
    assert small.figures["branches"].running == 1.02
    assert contradictions(NEW) == [], "perf computes metrics from other groups of counters"
    assert reading(NEW).left == ()


@pytest.mark.parametrize(
    ("printed", "other", "words"),
    [
        ("0.5 CPUs", "0.9 CPUs", "= 0.5 CPUs utilized, but 0.9 CPUs utilized is printed"),
        ("3.5 %", "9.5 %", "= 3.498 %, but 9.5 % is printed"),
        ("500.0 M/sec", "900.0 M/sec", "= 500 M/sec, but 900.0 M/sec is printed"),
        ("1204.0 cs/sec", "2204.0 cs/sec", "= 1,204 /sec, but 2204.0 /sec is printed"),
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


def test_of_intervals_with_a_summary_the_summary_is_read() -> None:
    found = reading((FIXTURES / "intervals.txt").read_text())
    (record,) = found.records
    assert record.figures["elapsed"].value > 1
    assert len(found.left) > 20, "the intervals are lines that were not read"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (perf_text(QUIET | {"task_clock_ms": 18_446_744_073_709.0}), "CPUs."),
        (perf_text(QUIET | {"instructions": 2**64 - 1}), "ran below 0"),
        (perf_text(QUIET | {"instructions": 20 * 10**9}), "no CPU retires more than 12"),
        (perf_text(QUIET).replace("1.00  insn", "20.00  insn"), "no CPU retires more than 12"),
        ("design,cycles,task_clock_ms\na,-5,1\n", "less than nothing"),
        ("server,rps,p99_ms\na,-5,1\n", "less than nothing"),
        ("cycles,task_clock_ms\n91000000,10.00\n95000000,10.00\n", "9.495 GHz"),
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
    *(path.read_text() for path in sorted(FIXTURES.glob("*.txt"))),
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
