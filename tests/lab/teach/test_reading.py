"""Every form of perf's output and of tables becomes the same records; what is none, one line."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.errors import UsageError
from regatta.teach.review.figures import Record
from regatta.teach.review.review import read, read_lines
from tests.lab.teach.printed import LOCALES, perf_text

FIXTURES = Path(__file__).parents[1] / "fixtures"
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


def records(text: str) -> tuple[Record, ...]:
    reading = read_lines("a file", text.splitlines())
    assert reading is not None
    return reading.records


def values(record: Record) -> dict[str, float]:
    return {name: figure.value for name, figure in record.figures.items()}


@pytest.mark.parametrize("locale", LOCALES)
def test_perf_is_read_in_every_locale(locale: str) -> None:
    (record,) = records("Table 3\n" + perf_text(FIGURES, LOCALES[locale], "./a b:1"))
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
    (record,) = read(str(FIXTURES / f"review/{name}.txt")).records
    assert len(record.figures) > 7
    assert record.label == "find . -name x*"
    assert record.repeated == (name == "runs")
    assert syscalls in (None, record.figures["syscalls"].value)
    assert record.figures["syscalls"].value > 1000


def test_decimal_commas_in_what_programs_read_are_read_too() -> None:
    separated = values(read(str(FIXTURES / "review/german-separated.csv")).records[0])
    # perf cuts its metrics off at the comma there.
    assert separated == {"task_clock": pytest.approx(0.52e-3), "page_faults": 50}
    lines = values(read(str(FIXTURES / "review/french.json")).records[0])
    assert lines["task_clock"] == pytest.approx(0.525872e-3)
    assert lines["page_faults_per_s"] == pytest.approx(91276.976, rel=1e-6)


@pytest.mark.parametrize("path", sorted((FIXTURES / "perf").glob("*.json")), ids=lambda p: p.stem)
def test_every_json_that_the_laboratory_reads_is_read(path: Path) -> None:
    assert read(str(path)).form == "perf stat -j"


def test_the_share_of_the_time_and_the_kind_of_core_are_read() -> None:
    found = read(str(FIXTURES / "perf/multiplexed.json")).records[0].figures
    assert found["cache_references"].running == 40
    big, small = read(str(FIXTURES / "review/hybrid.txt")).records
    assert (big.keys["core"], small.keys["core"]) == ("cpu_core", "cpu_atom")
    assert (big.figures["cycles"].value, small.figures["cycles"].value) == (56_221_899, 11_004_211)
    assert big.figures["tma_backend_bound"].value == 18.5
    assert small.figures["branches"].running == 28.7
    assert "elapsed" not in small.figures


def test_several_outputs_in_one_file_are_several_runs() -> None:
    text = perf_text(FIGURES, command="./a") + perf_text(FIGURES, command="./b")
    assert [record.label for record in records(text)] == ["./a", "./b"]
    lines = (FIXTURES / "perf/newer-perf.json").read_text() * 2
    assert len(records(lines)) == 2
    pasted = "  10.00 msec task-clock\n  5  cycles\n  11.00 msec task-clock\n  6  cycles\n"
    assert [one.figures["cycles"].value for one in records(pasted)] == [5, 6]


def test_the_old_way_to_print_milliseconds_is_read() -> None:
    (record,) = records("   102.632452      task-clock (msec)     #    0.009 CPUs utilized\n")
    assert record.figures["task_clock"].value == pytest.approx(0.102632452)


SEPARATED = """# started on Thu
0.53,msec,task-clock,526544,5.00,0.468,CPUs utilized
416830285,,cpu_core/cycles/u,526544,100.00,3.152,GHz
<not supported>,,branches,0,100.00,,
"""


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_separated_fields_are_read(mark: str) -> None:
    (record,) = records(SEPARATED.replace(",", mark))
    assert record.figures["task_clock"].running == 5
    assert record.figures["cycles"].user_only
    assert record.figures["ghz"].value == 3.152
    assert "branches" not in record.figures


def test_how_far_runs_differ_is_read() -> None:
    (record,) = records("47,,page-faults,2.13%,471181,100.00,93.712,K/sec\n")
    assert record.repeated


TABLE = """# a comment
design;clients;task-clock (ms);Cycles;Branch misses;instructions per cycle;notes

select;100;238,58;829.282.372;806.342;1,50;x
iterative;100;297,78 ± 3;826,4 M;<not supported>;;y
"""


def test_a_table_is_read_by_its_headings() -> None:
    first, second = records(TABLE)
    assert (first.line, second.line) == (4, 5)
    assert dict(first.keys) == {"design": "select", "connections": "100"}
    assert values(first) == {
        "task_clock": pytest.approx(0.23858),
        "cycles": 829_282_372,
        "branch_misses": 806_342,
        "instructions_per_cycle": 1.5,
    }
    assert values(second) == pytest.approx({"task_clock": 0.29778, "cycles": 826.4e6})
    assert (first.repeated, second.repeated) == (False, True)


def test_a_table_with_a_row_for_each_figure_is_read() -> None:
    text = (
        "design,connections,metric,value,note\n"
        "select,5,task_clock_ms,3.63,\n"
        "select,5,cycles,11810191,a note\n"
        "select,5,cheese,7,\n"
        "select,15,cycles,29458381,\n"
        "select,5,cycles,11810192,\n"
    )
    assert [values(one) for one in records(text)] == [
        {"task_clock": pytest.approx(3.63e-3), "cycles": 11_810_191},
        {"cycles": 29_458_381},
        {"cycles": 11_810_192},
    ]


@pytest.mark.parametrize(
    ("heading", "name", "value"),
    [
        ("cycles", "cycles", 2),
        ("page-faults", "page_faults", 2),
        ("Branches (M/sec)", "branches_per_s", 2e6),
        ("instructions_per_second", "instructions_per_s", 2),
        ("branch-misses %", "branch_misses_percent", 2),
        ("cache_miss_rate", "cache_misses_percent", 2),
        ("IPC", "instructions_per_cycle", 2),
        ("Clock [GHz]", "ghz", 2),
        ("CPUs utilized", "cpus_utilized", 2),
        ("wall time (ms)", "elapsed", 2e-3),
        ("user_s", "user", 2),
        ("tma_retiring_percent", "tma_retiring", 2),
        ("Backend bound", "tma_backend_bound", 2),
        ("task_clock_us", "task_clock", 2e-6),
    ],
)
def test_a_heading_says_what_a_column_holds(heading: str, name: str, value: float) -> None:
    (record,) = records(f"design,{heading}\nselect,2\n")
    assert values(record) == {name: pytest.approx(value)}


def test_a_heading_that_says_nothing_is_passed_over() -> None:
    (record,) = records("design,cpu_time,latency_ms,cycles\nselect,1,2,3\n")
    assert values(record) == {"cycles": 3}


def read_bytes(folder: Path, content: bytes):
    path = folder / "a file"
    path.write_bytes(content)
    return read(str(path))


def test_other_encodings_are_read(tmp_path: Path) -> None:
    text = perf_text(FIGURES, LOCALES["fr_FR"]).replace("\u202f", "\u00a0")
    for encoding in ("utf-16", "utf-8-sig", "latin-1"):
        (record,) = read_bytes(tmp_path, text.replace("\n", "\r\n").encode(encoding)).records
        assert record.figures["cycles"].value == 323_489_760


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no figures"),
        (b"\0\1\2", "is binary"),
        (b"\xff\xfe\0", "holds no figures"),
        (b"once upon a time", "holds no figures"),
        (b"a,b\n1,2\n", "holds no figures"),
        (b"design,cycles\n", "holds no figures"),
        (b'{"counter-value": ', ":1: perf printed a line that is not JSON"),
        (b'{"event": 1}\n', ":1: perf printed no text"),
        (b'design,cycles\n"' + b"x" * 200_000, "is this a table?"),
        (b"design,cycles\n" + b"a,1\n" * 100_001, "may have 100,000 rows"),
        (b"cycles" + b",x" * 200, "200 columns"),
        (b"cycles\n" * (1 << 20), "is larger than 4 MiB"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(UsageError) as error:
        read_bytes(tmp_path, content)
    assert words in str(error.value)
    assert len(str(error.value)) < 300 + len(str(tmp_path))


def test_a_file_that_is_not_there_or_is_a_folder_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", "a\0b"):
        with pytest.raises(UsageError, match="cannot read"):
            read(str(path))


@given(st.text(max_size=300) | st.binary(max_size=300).map(lambda some: some.decode("latin-1")))
def test_no_text_breaks_a_reader(text: str) -> None:
    with contextlib.suppress(UsageError):
        read_lines("a file", text.split("\n"))


SCRAPS = (
    *("5", "1,234", "102.63", "9" * 70, "msec", "cycles", "task-clock", "#", "GHz", "%", "K/sec"),
    *("(5.00%)", "seconds time elapsed", "tma_retiring", "( +- 1.0% )", ",", "  ", "\n"),
)


@given(st.lists(st.sampled_from(SCRAPS), max_size=40))
def test_scraps_of_perf_in_any_order_break_no_reader(scraps: list[str]) -> None:
    reading = read_lines("a file", " ".join(scraps).split("\n"))
    if reading is not None:
        json.dumps([values(record) for record in reading.records], allow_nan=False)


def test_a_long_line_costs_no_more_than_its_length() -> None:
    for line in ("1 " * 500_000, "1," * 500_000, "# " * 500_000, "5 cycles" + " " * 900_000):
        reading = read_lines("a file", [line, "   5      cycles"])
        assert reading is not None
        assert [values(record) for record in reading.records] == [{"cycles": 5}]
