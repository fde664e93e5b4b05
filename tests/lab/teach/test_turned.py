"""Turned tables, a column for each run: what each heading says of it, and which hold no run."""

import pytest

from regatta.teach.review.figures import Record
from tests.lab.teach.found import findings, named, reading


def values(record: Record) -> dict[str, float]:
    return {name: figure.value for name, figure in record.figures.items()}


def turned(header: str, *rows: str) -> str:
    rule = "|".join(["---"] * (header.count("|") + 1))
    return "\n".join([f"| {header} |", f"| {rule} |", *(f"| {row} |" for row in rows), ""])


def keys(header: str) -> list[dict[str, str]]:
    """Of its runs, where every column but the first has a figure."""
    cells = " | ".join(str(number) for number in range(5, 5 + header.count("|")))
    return [dict(one.keys) for one in reading(turned(header, f"cycles | {cells}")).records]


@pytest.mark.parametrize(
    "column",
    ["ratio", "Ratio select : iterative", "select / iterative", "select vs. iterative", "change"]
    + ["Change (%)", "diff", "% difference", "Δ", "%", "mean", "Total", "sd", "95 % CI", "notes"],
)
def test_a_column_that_is_made_of_others_is_no_design(column: str) -> None:
    """Its cells are no numbers of what their row names."""
    text = turned(
        f"Counter | iterative | select | {column}",
        "task-clock (ms) | 297.78 | 238.58 | -19.9 %",
        "cycles | 826419040 | 829282372 | 1.003",
    )
    found = reading(text)
    assert [one.design for one in found.records] == ["iterative", "select"]
    assert found.unread == ()
    assert "unread" not in {one.check.name for one in findings(text)}


def test_a_mean_alone_is_read_and_is_no_single_run() -> None:
    (mean,) = reading(turned("Counter | mean | sd", "cycles | 5 | 1")).records
    assert (dict(mean.keys), values(mean), mean.repeated) == ({}, {"cycles": 5}, True)
    (total,) = reading(turned("Counter | total", "cycles | 5")).records
    assert (dict(total.keys), total.repeated) == ({}, False)


def test_numbers_of_connections_are_no_designs() -> None:
    text = turned("Connections | 1 | 100 | 1,000", "task-clock (ms) | 2 | 40 | 400")
    assert [dict(one.keys) for one in reading(text).records] == [
        {"connections": "1"},
        {"connections": "100"},
        {"connections": "1000"},
    ]
    assert named("unserved", text) == []
    (found,) = named("start-and-end", text)
    assert found.says.startswith("2 ms at 1, 400 ms at 1000: 0.3984 ms per connection")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Counter | 1 | 100", [{"connections": "1"}, {"connections": "100"}]),
        ("Threads | 2 | 4", [{"threads": "2"}, {"threads": "4"}]),
        ("Counter | 1 client | n=100", [{"connections": "1"}, {"connections": "100"}]),
        ("Counter | 2 workers | 10 conns", [{"workers": "2"}, {"connections": "10"}]),
        ("Counter | Server | client", [{"side": "server"}, {"side": "client"}]),
        (
            "Counter | select (server) | thread-per-client, client",
            [
                {"design": "select", "side": "server"},
                {"design": "thread-per-client", "side": "client"},
            ],
        ),
        (
            "Counter | thread-per-client | epoll",
            [{"design": "thread-per-client"}, {"design": "epoll"}],
        ),
        ("Counter | Run 1 | run #2 | trial 3", [{}, {}, {}]),
        ("Counter | 1 | 2 | 3", [{}, {}, {}]),
        ("Run | 7 | 8", [{}, {}]),
        ("Counter | select run 1 | select, run 2", [{"design": "select"}, {"design": "select"}]),
        ("Counter | model 2 | -1", [{"design": "model 2"}, {"design": "-1"}]),
    ],
)
def test_a_heading_says_what_tells_its_run_apart(
    header: str, expected: list[dict[str, str]]
) -> None:
    assert keys(header) == expected


def test_the_two_sides_are_not_compared_as_designs() -> None:
    rows = ("task-clock (ms) | 17.35 | 20.52", "cycles | 74061248 | 72927439")
    assert named("ranks", turned("Counter | server | client", *rows)) == []
    assert named("ranks", turned("Counter | select | epoll", *rows)) != []


@pytest.mark.parametrize("header", ["run 1 | run 2 | run 3", "select | select | select"])
def test_repetitions_are_several_runs_of_one(header: str) -> None:
    text = turned(f"Counter | {header}", "task-clock (ms) | 300 | 20 | 310")
    assert len({one.place for one in reading(text).records}) == 3
    assert findings(text) == []
    (found,) = findings(turned("Counter | run 1", "task-clock (ms) | 300"))
    assert found.check.name == "one-run"


UNITS = turned(
    "Counter | unit | iterative | select",
    "task-clock | s | 1.20 | 1.35",
    "cycles | | 3600000000 | 4050000000",
    "instructions | G | 1.2 | 1.3",
    "branches | M/sec | 371.078 | 372.078",
    "page-faults | count | 7 | 8",
    "cpu-clock | jiffies | 7 | 8",
    "branch-misses | % | 0.39 | 0.4",
)


def test_a_column_of_units_says_in_which_a_figure_is() -> None:
    first, second = reading(UNITS).records
    assert (first.design, second.design) == ("iterative", "select")
    assert values(first) == {
        "task_clock": pytest.approx(1.2),
        "cycles": 3_600_000_000,
        "instructions": pytest.approx(1.2e9),
        "branches_per_s": pytest.approx(371.078e6),
        "page_faults": 7,
        "branch_misses_percent": 0.39,
    }
    assert {one.check.name for one in findings(UNITS)} == {"one-run"}


def test_units_do_not_tell_the_figures_of_a_run_apart() -> None:
    (record,) = reading("design,metric,value,unit\na,task_clock,1.2,s\na,cycles,5,\n").records
    assert dict(record.keys) == {"design": "a"}
    assert values(record) == {"task_clock": pytest.approx(1.2), "cycles": 5}


@pytest.mark.parametrize(
    "cell",
    ["not supported", "Not counted", "failed", "not&nbsp;supported", "<not supported>"]
    + ["&lt;not counted&gt;", "`<not supported>`"],
)
def test_what_was_not_counted_is_no_number_that_cannot_be_read(cell: str) -> None:
    found = reading(turned("Design | Cycles | Branches", f"a | 5 | {cell}"))
    assert [values(one) for one in found.records] == [{"cycles": 5}]
    assert found.unread == ()
