"""Each check: what it finds, what follows by arithmetic, and whom it does not accuse."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.lab.teach.found import FIXTURES, contradictions, counted, findings, locales, named
from tests.lab.teach.printed import perf_text

QUIET = {"task_clock_ms": 9000.0, "elapsed_s": 10.0, "user_s": 1.0, "system_s": 8.0}


@given(counted(), locales)
def test_what_perf_printed_is_never_a_contradiction(figures: dict[str, float], locale) -> None:
    assert contradictions(perf_text(figures, locale)) == []


@given(counted(), locales, st.floats(1.1, 9), st.booleans())
def test_a_clock_that_is_a_tenth_off_is_found(
    figures: dict[str, float], locale, factor: float, slower: bool
) -> None:
    ghz = figures["cycles"] / figures["task_clock_ms"] / 1e6
    printed = ghz / factor if slower else ghz * factor
    text = perf_text(figures, locale, replaced={"cycles": f"{locale.decimal(printed, 3)} GHz"})
    (found,) = named("ratio", text)
    assert found.printed == pytest.approx(printed, abs=0.001)
    assert found.computed == pytest.approx(ghz, rel=0.05)


@pytest.mark.parametrize(
    ("name", "printed", "words"),
    [
        ("task_clock_ms", "0.500 CPUs utilized", "9000.00 msec / 10.000000000 s = 0.9 CPUs"),
        ("branches", "105.430 M/sec", "1000000000 branches / 9000.00 msec = 111.1 M/sec"),
        ("cache_misses", "1.00% of all cache refs", "= 10 %, but 1.00 % is printed"),
        ("stalled_cycles_backend", "90.00% backend cycles idle", "= 25 %, but 90.00 %"),
    ],
)
def test_each_printed_figure_is_held_against_its_counts(
    name: str, printed: str, words: str
) -> None:
    figures = QUIET | {
        "page_faults": 100_000,
        "cycles": 20 * 10**9,
        "stalled_cycles_backend": 5 * 10**9,
        "instructions": 10 * 10**9,
        "branches": 10**9,
        "branch_misses": 10**7,
        "cache_references": 10**6,
        "cache_misses": 10**5,
    }
    assert contradictions(perf_text(figures)) == []
    (found,) = contradictions(perf_text(figures, replaced={name: printed}))
    assert words in found.says


def test_means_of_several_runs_are_not_held_against_one_another() -> None:
    """As perf -r prints them: neither is the other's mean."""
    text = (FIXTURES / "runs.txt").read_text().replace("8.942", "9.942")
    assert findings(text) == []
    assert contradictions(text.replace(" (3 runs)", "").replace("+-", "")) != []


def test_shares_of_slots_do_not_exceed_the_whole() -> None:
    header = "tma_retiring,tma_bad_speculation,tma_frontend_bound,tma_backend_bound\n"
    (found,) = contradictions(f"{header}22.4,2.4,21.9,63.3\n")
    assert (
        found.says
        == "22.4 + 2.4 + 21.9 + 63.3 = 110 % of the CPU's slots, which cannot exceed 100."
    )
    assert contradictions(f"{header}22.4,2.4,21.9,53.3\n22.4,2.4,21.9,13.3\n") == []


def test_a_part_is_not_larger_than_its_whole() -> None:
    table = "branches,branch_misses\n100,101\n100,102\n"
    assert [found.line for found in named("part", table)] == [3]
    # Counters that took turns can be off by anything.
    text = perf_text(QUIET | {"branches": 10, "branch_misses": 20}, running="(40.00%)")
    assert named("part", text) == []


MIXES = """design,connections,side,cycles,instructions,branches
a,1,server,7000,10000,1800
b,1,server,7000,10000,1850
a,1,client,7000,10000,1900
b,1,client,7000,{instructions},{branches}
"""


@pytest.mark.parametrize(
    ("instructions", "branches", "found"),
    [
        (10_000, 1_800, []),
        (10_000, 3_600, []),
        (10_000, 9_570, ["mix"]),
        (10_000, 514, ["mix"]),
        (1_400, 1_280, ["mix", "misplaced"]),
        ("", 1_280, ["misplaced"]),
        ("", 1_700, []),
        ("", 1_400, []),
    ],
)
def test_another_share_of_branches_than_everywhere_else(
    instructions: int | str, branches: int, found: list[str]
) -> None:
    table = MIXES.format(instructions=instructions, branches=branches)
    assert [(finding.check.name, finding.line) for finding in contradictions(table)] == [
        (n, 5) for n in found
    ]


def test_few_rows_say_nothing_of_what_is_usual() -> None:
    assert contradictions("instructions,branches\n10000,1800\n10000,1800\n10000,9570\n") == []


ONE_RUN = "design,cycles,instructions,branches,task_clock_ms\n"


def test_one_run_with_two_values_is_found() -> None:
    first = "a,55241654,36392662,1870542,17.74\n"
    (found,) = contradictions(f"{ONE_RUN}{first}a,55241654,36392662,6583654,17.742\n")
    assert found.says.startswith("6583654 branches here, 1870542 branches in line 2; other counts")
    # Another design, or other cycles, is another run.
    for other in (first.replace("a,", "b,"), "a,55241655,36392662,1870542,17.74\n"):
        assert named("twice", ONE_RUN + first + other) == []


def test_a_run_in_two_files_is_one_run() -> None:
    first, second = (f"{ONE_RUN}a,55241654,36392662,{count},17.74\n" for count in (100, 200))
    (found,) = named("twice", first, second)
    assert "100 branches in file 0:2" in found.says


def table(*rows: str) -> str:
    return "\n".join(["design,connections,side,task_clock_ms,cycles", *rows])


def test_time_and_cycles_that_rank_designs_otherwise() -> None:
    (found,) = named("ranks", table("a,9,server,17.35,74061248", "b,9,server,20.52,72927439"))
    assert found.says == (
        "a took 17.35 ms and b 20.52 ms, but 74.06 million and 72.93 million cycles: "
        "4.27 and 3.55 GHz."
    )
    assert named("ranks", table("a,9,server,17.35,60000000", "b,9,server,20.52,72927439")) == []
    # Other loads, and other sides, are not compared.
    assert named("ranks", table("a,9,server,17.35,74061248", "b,8,server,20.52,72927439")) == []
    assert named("ranks", table("a,9,server,17.35,74061248", "b,9,client,20.52,72927439")) == []


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=2, max_size=6))
def test_designs_are_ranked_otherwise_if_some_pair_is(runs: list[tuple[int, int]]) -> None:
    rows = [f"d{n},9,server,{ms},{cycles}000000" for n, (ms, cycles) in enumerate(runs)]
    inverted = any(
        first[0] <= second[0]
        and first[1] > second[1]
        and first[1] / first[0] > 1.05 * second[1] / second[0]
        for first in runs
        for second in runs
    )
    assert bool(named("ranks", table(*rows))) == inverted


def test_outputs_of_perf_are_compared_over_files() -> None:
    slow = perf_text(QUIET | {"cycles": 30 * 10**9}, command="./a")
    fast = perf_text(QUIET | {"cycles": 40 * 10**9, "task_clock_ms": 8000.0}, command="./b")
    (found,) = named("ranks", slow, fast)
    assert (found.file, found.subject) == ("file 1", "./b")


def test_a_server_that_hardly_ran() -> None:
    rows = ["a,5,server,460.31,", "b,5,server,421.18,", "c,5,server,{},"]
    (found,) = named("unserved", table(*rows).format(3.19))
    assert found.says.startswith("3.19 ms of CPU, 0.76 % of what b used (421.2 ms)")
    assert named("unserved", table(*rows).format(43)) == []
    assert named("unserved", table(*rows[1:]).format(3.19)) == []
    assert named("unserved", table(*rows).format(3.19).replace("server", "client")) == []


def test_one_run_only() -> None:
    assert [
        finding.says for finding in named("one-run", table("a,1,server,9,", "b,1,server,9,"))
    ] == ["2 of 2 ran only once: any difference may be chance."]
    assert named("one-run", table("a,1,server,9,", "a,1,server,8,")) == []
    assert named("one-run", "task_clock_ms,sd\n9,1\n") == []
    assert named("one-run", "task_clock_ms\n9 ± 1\n") == []
    assert len(named("one-run", perf_text(QUIET), perf_text(QUIET, command="b"))) == 1
    assert named("one-run", perf_text(QUIET), perf_text(QUIET)) == []
    assert named("one-run", (FIXTURES / "runs.txt").read_text()) == []


def test_a_whole_process_that_is_mostly_start_and_end() -> None:
    (found,) = named("start-and-end", table("a,1,server,7.77,", "a,20,server,28.33,"))
    assert found.says == (
        "7.77 ms at 1, 28.33 ms at 20: 1.082 ms per connection, so 6.688 ms (86 %) at 1 are "
        "not due to connections."
    )
    (found,) = named("start-and-end", table("a,1,server,7.77,", "a,20,server,7,"))
    assert "more connections cost nothing more" in found.says
    assert named("start-and-end", table("a,1,server,7.77,", "a,20,server,90,")) == []


@given(st.floats(0.1, 50), st.floats(0.01, 10), st.integers(1, 50), st.integers(2, 50))
@example(3.1, 1.0, 1, 2)
@example(2.9, 1.0, 1, 2)
def test_start_and_end_are_three_quarters_or_nothing_is_said(
    fixed: float, each: float, few: int, times: int
) -> None:
    rows = [f"a,{n},server,{fixed + each * n:.9f}," for n in (few, few * times)]
    share = fixed / (fixed + each * few)
    if abs(share - 0.75) > 0.001:
        assert bool(named("start-and-end", table(*rows))) == (share > 0.75)


def test_so_short_that_it_may_be_all_start_and_end() -> None:
    text = perf_text({"task_clock_ms": 3.19, "elapsed_s": 0.004})
    (found,) = named("start-and-end", text)
    assert found.says.startswith("3.19 msec of CPU in all")
    assert named("start-and-end", text.replace("3.19", "5.19")) == []
    assert named("start-and-end", table("a,1,client,3.19,")) == []
    assert named("start-and-end", table("a,1,server,3.19,", "a,9,server,30,")) == []


def test_elapsed_time_that_is_waiting() -> None:
    (found,) = named("idle", perf_text({"task_clock_ms": 102.63, "elapsed_s": 12.035832585}))
    assert found.says == "102.6 ms of CPU in 12.035832585 s: 0.85 %."
    assert named("idle", perf_text(QUIET)) == []


def test_counters_that_ran_a_part_of_the_time() -> None:
    figures = QUIET | {"cycles": 30 * 10**9, "branches": 10**9}
    (found,) = named("multiplexed", perf_text(figures, running="(5.00%)"))
    assert found.says == (
        "30000000000 cycles were counted for 5 % of the time; 95 % of the time is extrapolated. "
        "The same holds for 1 other counter."
    )
    assert named("multiplexed", perf_text(figures, running="(50.00%)")) == []
    (found,) = named("multiplexed", (FIXTURES / "hybrid.txt").read_text())
    assert found.subject == "./client 100, cpu_atom"


def test_the_kernels_work_was_not_counted() -> None:
    text = perf_text(QUIET | {"context_switches": 0, "cycles": 30 * 10**9})
    user = text.replace("cycles ", "cycles:u ").replace("switches ", "switches:u ")
    (found,) = named("user-space", user)
    assert found.says == (
        "30000000000 cycles were counted in user space only; 89 % of 9,000 ms were spent in the "
        "kernel."
    )
    assert named("user-space", text) == []


def test_a_good_measurement_is_not_accused() -> None:
    figures = QUIET | {"cycles": 30 * 10**9, "instructions": 10**10, "branches": 10**9}
    runs = [perf_text(figures | {"cycles": 30 * 10**9 + n}) for n in range(10)]
    assert findings(*runs) == []
