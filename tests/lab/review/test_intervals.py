"""A run in intervals, as perf stat -I prints it: added up, and what its parts say of the sum."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.errors import UsageError
from regatta.review import review
from regatta.review.figures import Record
from regatta.review.finding import NOT_SHOWN
from regatta.review.reading.files import read, read_lines
from tests.lab.review.drawn import counted, locales
from tests.lab.review.found import contradictions, findings, named, reading
from tests.lab.review.printed import intervals_text, perf_text

FIXTURES = Path(__file__).parents[1] / "fixtures" / "review"
RECORDED = FIXTURES / "intervals.txt"
NOTHING: dict[str, float] = {}


def part(cpu_s: float, **more: float) -> dict[str, float]:
    """A second, or less, of a program that uses so much of a CPU."""
    return {"task_clock_ms": cpu_s * 1e3, "elapsed_s": 1.0, "page_faults": 7, **more}


def seconds(*parts: dict[str, float]) -> str:
    return intervals_text([float(end) for end in range(1, len(parts) + 1)], parts)


def values(record: Record) -> dict[str, float]:
    return {name: figure.value for name, figure in record.figures.items()}


@pytest.mark.parametrize(
    ("form", "count", "sums", "label"),
    [
        ("txt", 16, (352, 1.80195, 3.054745529), "bash load.sh"),
        ("csv", 16, (352, 1.82189, 3.074070899), "intervals"),
        ("json", 17, (356, 1.967018835, 3.218618895), "intervals"),
    ],
)
def test_what_perf_was_recorded_to_print_is_one_run(
    form: str, count: int, sums: tuple[int, float, float], label: str
) -> None:
    faults, task_s, elapsed_s = sums
    path = str(FIXTURES / f"intervals.{form}")
    found = read(path)
    (record,) = found.records
    assert (found.form, record.label, len(record.intervals)) == ("perf stat -I", label, count)
    assert values(record) == {
        "task_clock": pytest.approx(task_s, abs=1e-4),
        "page_faults": faults,
        "elapsed": elapsed_s,
    }
    assert record.summary is not None, "the sum of all stands behind them"
    assert record.summary.figures["page_faults"].value == faults
    idle = [one for one in record.intervals if not one.record.figures]
    assert len(idle) in (3, 4), "nothing ran while it slept"
    assert {one.check.kind for one in review([path]).findings} == {NOT_SHOWN}


@given(st.lists(counted(), min_size=1, max_size=5), locales)
def test_intervals_are_added_up_and_accused_of_nothing(
    parts: list[dict[str, float]], locale
) -> None:
    text = intervals_text([*range(1, len(parts) + 1)], parts, locale)
    (record,) = reading(text).records
    for name in ("cycles", "instructions", "branches", "context_switches"):
        assert record.figures[name].value == sum(one[name] for one in parts)
    clock = record.figures["task_clock"]
    assert abs(clock.value - sum(one["task_clock_ms"] for one in parts) / 1e3) <= clock.half * 1.01
    assert not any(name.endswith(("_per_s", "_percent", "ghz")) for name in record.figures)
    assert contradictions(text) == []


@given(st.lists(counted(), min_size=1, max_size=3), st.integers(0, 4000))
def test_a_file_that_is_cut_anywhere_contradicts_nothing(
    parts: list[dict[str, float]], at: int
) -> None:
    text = intervals_text([*range(1, len(parts) + 1)], parts)[:at]
    if read_lines("a file", text.splitlines()) is not None:
        assert contradictions(text) == []


def test_each_interval_is_held_against_its_own_counts() -> None:
    parts = [part(0.5, cycles=10**9), part(0.5, cycles=2 * 10**9)]
    text = seconds(*parts).replace("2.000 GHz", "2.500 GHz")
    (found,) = contradictions(text)
    assert found.check.name == "ratio"
    assert found.subject == "file 0, interval to 1.000 s"
    assert "1000000000 cycles / 500.00 msec = 2 GHz, but 2.500 GHz is printed" in found.says


def test_idle_intervals_are_told_from_those_under_load() -> None:
    (found,) = named("idle-intervals", seconds(NOTHING, part(0.8), part(0.8), part(0.01), NOTHING))
    assert found.line == 2
    assert found.says == (
        "3 of 5 intervals used less than a tenth of the busiest's 800 ms of CPU a second: 1 at "
        "the start, 2 at the end. The mean of all is 322 ms of CPU a second, that of the others "
        "800 ms of CPU a second."
    )
    (found,) = named("idle-intervals", seconds(part(0.8), NOTHING, part(0.8)))
    assert "a second: 1 between. The mean of all" in found.says
    assert named("idle-intervals", seconds(part(0.8), part(0.09), part(0.8))) == []
    assert named("idle-intervals", perf_text(part(0.8)) * 3) == []


def test_where_no_clock_was_counted_cycles_tell_what_was_idle() -> None:
    text = seconds(part(0.8, cycles=10**9), part(0.8, cycles=10**7))
    without = "\n".join(line for line in text.splitlines() if "task-clock" not in line)
    (found,) = named("idle-intervals", without)
    assert "the busiest's 1,000 million cycles a second: 1 at the end." in found.says
    assert named("idle-intervals", text) == [], "the clock is what was used"


def test_a_last_interval_is_judged_by_what_it_used_a_second() -> None:
    same = [part(0.8)] * 5
    ends_s = [1, 2, 3, 4, 4.1]
    short = intervals_text(ends_s, [*same[:4], part(0.08)])
    assert [one.check.name for one in findings(short)] == ["one-run"]
    slow = intervals_text(ends_s, [*same[:4], part(0.02)])
    (found,) = named("end-intervals", slow)
    assert found.says == (
        "The interval to 4.100 s used 200 ms of CPU a second; those between used 800 ms of CPU a "
        "second."
    )


def test_a_tiny_last_interval_changes_no_mean() -> None:
    """Ten seconds of load, and half a millisecond of exit."""
    ends_s = [*range(1, 11), 10.0005]
    text = intervals_text(ends_s, [*[part(0.8)] * 10, part(0.00001)])
    assert [one.check.name for one in findings(text)] == ["one-run"]


@pytest.mark.parametrize(("loaded", "said"), [(18, True), (22, False)])
def test_idle_intervals_are_named_where_they_change_the_mean(loaded: int, said: bool) -> None:
    assert bool(named("idle-intervals", seconds(*[part(0.8)] * loaded, NOTHING))) == said


def test_intervals_beside_idle_ones_are_ends_and_no_change_of_the_load() -> None:
    load = [part(0.2), part(0.8), part(0.8), part(0.7), part(0.3)]
    (found,) = named("end-intervals", seconds(NOTHING, *load, NOTHING, part(0.8)))
    assert found.says.startswith("The interval to 2.000 s used 200 ms of CPU a second and that to ")
    assert named("unsteady", seconds(NOTHING, *load, NOTHING, part(0.8))) == []


@pytest.mark.parametrize(("least", "changed"), [(0.39, True), (0.41, False)])
def test_a_load_that_changes_by_more_than_half_is_no_one_load(least: float, changed: bool) -> None:
    found = named("unsteady", seconds(*[part(0.8)] * 3, part(least), *[part(0.8)] * 3))
    assert bool(found) == changed
    for one in found:
        assert "the interval to 4.000 s used 390 ms of CPU a second, that to 2.000 s" in one.says


def test_a_counter_that_an_interval_lacks_is_in_no_sum() -> None:
    text = seconds(part(0.8), part(0.8), part(0.8), NOTHING)
    lines = text.splitlines()
    assert named("lacking", text) == [], "nothing ran in the last"
    del lines[4]
    (found,) = named("lacking", "\n".join(lines))
    assert found.line == 4
    assert found.says == (
        "page faults are missing in 1 of 3 intervals, first in that to 2.000 s: 14 page faults "
        "are the sum of the others."
    )


def test_an_interval_that_is_missing_is_named() -> None:
    lines = seconds(*[part(0.8)] * 6).splitlines()
    (found,) = named("gap", "\n".join([*lines[:5], *lines[7:]]))
    assert found.says == (
        "The interval to 4.000 s lasted 2 s, the others 1 s: lines are missing, or perf was late."
    )
    assert named("gap", "\n".join(lines)) == []
    assert named("gap", intervals_text([1, 1.1], [part(0.8)] * 2)) == []


def test_a_summary_that_is_another_sum_contradicts_its_intervals() -> None:
    text = RECORDED.read_text()
    (found,) = named("sum", text.replace("     352      page", "     452      page"))
    lines = enumerate(text.splitlines(), start=1)
    assert found.line == next(number for number, line in lines if " 352 " in line)
    says = "The intervals add up to 352 page faults; the summary says 452 page faults."
    assert found.says == says
    assert (found.printed, found.computed) == (452, 352)


def test_another_output_behind_intervals_is_a_run_of_its_own() -> None:
    text = seconds(part(0.8), part(0.8)) + perf_text(part(1.7, elapsed_s=2.0))
    first, second = reading(text).records
    assert (first.summary, len(first.intervals), second.intervals) == (None, 2, ())


def test_where_time_runs_back_another_run_begins() -> None:
    text = seconds(part(0.8), part(0.8)) + seconds(part(0.7), part(0.7))
    assert [len(one.intervals) for one in reading(text).records] == [2, 2]
    later = seconds(part(0.8)) + "# started on Thu\n" + intervals_text([5.0], [part(0.7)])
    assert [len(one.intervals) for one in reading(later).records] == [1, 1]
    other = seconds(part(0.8)) + "0.123456789 said the program\n" + intervals_text([2], [part(0.7)])
    assert [len(one.intervals) for one in reading(other).records] == [2]
    torn = seconds(part(0.8)) + "     2.000000000 page-faults\n" + intervals_text([3], [part(0.7)])
    assert [values(one)["page_faults"] for one in reading(torn).records] == [14]


def test_intervals_are_no_runs() -> None:
    (found,) = named("one-run", seconds(*[part(0.8)] * 10))
    assert found.says.endswith(" Intervals are parts of one run, not several runs.")


HYBRID = """
     1.000000000     800.00 msec task-clock
     1.000000000     1,000,000 cpu_core/cycles/    (80.00%)
     1.000000000       200,000 cpu_atom/cycles/    (20.00%)
     2.000000000     800.00 msec task-clock
     2.000000000     3,000,000 cpu_core/cycles/
     2.000000000   <not counted> cpu_atom/cycles/
"""


def test_each_kind_of_core_has_its_sum_and_its_share_of_the_time() -> None:
    big, small = reading(HYBRID).records
    assert (big.keys["core"], small.keys["core"]) == ("cpu_core", "cpu_atom")
    assert (big.figures["cycles"].value, small.figures["cycles"].value) == (4_000_000, 200_000)
    assert big.figures["cycles"].running == pytest.approx(90)
    assert big.figures["task_clock"].value == small.figures["task_clock"].value == 1.6
    assert named("lacking", HYBRID) == [], "it ran on one kind alone"
    assert {one.check.name for one in findings(HYBRID)} == {"one-run", "two-kinds-of-core"}


OTHER_CORE = """
     1.000000000     800.00 msec task-clock
     1.000000000             7 page-faults
     1.000000000     1,000,000 cpu_core/cycles/    (80.00%)
     1.000000000       200,000 cpu_atom/cycles/    (20.00%)
     2.000000000     800.00 msec task-clock
     2.000000000             9 page-faults
     2.000000000   <not counted> cpu_core/cycles/
     2.000000000     3,000,000 cpu_atom/cycles/
"""


def test_an_interval_on_the_other_kind_of_core_is_not_idle_and_lacks_nothing() -> None:
    big, small = reading(OTHER_CORE).records
    assert [one.record.figures["task_clock"].value for one in big.intervals] == [0.8, 0.8]
    assert [one.record.figures["page_faults"].value for one in big.intervals] == [7, 9]
    assert (big.figures["cycles"].value, small.figures["cycles"].value) == (1_000_000, 3_200_000)
    assert {one.check.name for one in findings(OTHER_CORE)} == {"one-run"}


def test_what_is_missing_of_a_kind_of_core_that_counted_is_lacking() -> None:
    torn = OTHER_CORE.replace("<not counted> cpu_core/cycles/", "5 cpu_core/branches/")
    (found,) = named("lacking", torn)
    assert found.says.startswith("cycles are missing in 1 of 2 intervals, first in that to 2.000 s")
    (found,) = named("lacking", OTHER_CORE.replace("        9 page", "<not counted> page"))
    assert found.says.startswith("page faults are missing in 1 of 2 intervals")


TWICE = """
     1.000000000     500.00 msec task-clock
     1.000000000     1,000,000 cycles          #  0.002 GHz
     1.000000000     2,000,000 instructions    #  1.82  insn per cycle
     1.000000000     1,200,000 cycles          #  0.002 GHz
     1.000000000        30,000 cache-misses
     2.000000000     500.00 msec task-clock
     2.000000000     1,000,000 cycles          #  0.002 GHz
     2.000000000     1,000,000 instructions    #  1.00  insn per cycle
     2.000000000     1,000,000 cycles          #  0.002 GHz
     2.000000000        30,000 cache-misses
"""


def test_of_an_event_in_two_groups_the_first_is_taken() -> None:
    (record,) = reading(TWICE).records
    assert values(record) == {
        "task_clock": pytest.approx(1),
        "cycles": 2_000_000,
        "instructions": 3_000_000,
        "cache_misses": 60_000,
        "elapsed": 2,
    }
    assert contradictions(TWICE) == [], "perf divided by the mean of both"
    once = "\n".join(line for line in TWICE.splitlines() if "1,200,000" not in line)
    assert [one.check.name for one in contradictions(once)] == ["ratio"]


def of_a_cpu(cpu: int) -> str:
    return (
        f'{{"interval" : 1.000000000, "cpu" : "{cpu}", "counter-value" : "5.000000", "unit" : "", '
        '"event" : "cycles", "event-runtime" : 9, "pcnt-running" : 100.00}\n'
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (of_a_cpu(0) + of_a_cpu(1), ":2: cycles is counted twice at 1.000000000 s;"),
        (
            "".join(f"     1.000000000 5 core{n}/cycles/\n" for n in range(17)),
            ":1: a run has 17 kinds of core",
        ),
        ('{"interval" : 1.000000000, "event" : 5}', ":1: perf printed no text"),
        ('{"interval" : 1.000000000, "counter-v', ":1: perf printed a line that is not JSON"),
    ],
)
def test_what_cannot_be_added_up_is_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(UsageError) as error:
        read_lines("a file", text.splitlines())
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_table_whose_first_column_is_a_time_stays_a_table() -> None:
    found = reading("time,cycles\n1.000000000,5\n2.000000000,6\n")
    assert found.form == "table"
    assert [values(one) for one in found.records] == [{"cycles": 5}, {"cycles": 6}]


@pytest.mark.long
def test_many_intervals_and_many_runs_cost_no_more_than_their_number() -> None:
    """All at once: any that is held against each other would take hours."""
    times = range(1, 8_001)
    one = "".join(f"{time:15.9f} {'9' * 18} cycles\n" for time in times)
    (record,) = reading(one).records
    assert record.figures["cycles"].value == pytest.approx(8_000 * 1e18)
    many = "".join(f"{8_001 - time:15.9f} 5 cycles\n  7 cycles\n" for time in times)
    assert len(reading(many).records) == 16_000
    assert len(findings(one)) < 5


ends = st.floats(0.001, 1e6, allow_nan=False)
SCRAPS = (
    *("5", "102.63", "9" * 70, "msec", "cycles", "task-clock", "#", "GHz", "(5.00%)", "\n"),
    *("     1.000000000", "     0.000000000", "999999999.000000000", ",", ";", "<not counted>"),
    *('{"interval" : 1.0, ', '"event" : "cycles"', "}", "summary,", "# started on", "  "),
    *("\u0661.\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660", "\u0665"),
)


@given(st.lists(st.sampled_from(SCRAPS), max_size=40), st.lists(ends, max_size=4))
def test_scraps_of_intervals_in_any_order_break_no_check(
    scraps: list[str], more: list[float]
) -> None:
    text = " ".join(scraps) + "".join(f"\n{end:.9f} 5 cycles" for end in more)
    with contextlib.suppress(UsageError):
        if read_lines("a file", text.splitlines()) is not None:
            found = [(one.says, one.printed, one.computed) for one in findings(text)]
            json.dumps(found, allow_nan=False)
