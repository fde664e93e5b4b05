"""What a request's time is spent on: rows, their sum, and what makes the difference."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from regatta.judge.analyse import analyse
from regatta.judge.anatomy import TOTAL, Anatomy, Spent, anatomy
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import BLOCKS
from regatta.record.read import read
from regatta.show.anatomy import label, why_sentence
from regatta.show.build import view_of
from regatta.show.markdown import to_markdown
from tests.lab import synthetic

SPENT = {
    "epoll": {
        "server;main (server);parse (server)": 4.0,
        "server;main (server);reply (server)": 2.0,
        "server;main (server);memcpy (libc)": 0.1,
        "server;main (server);__x64_sys_sendto_[k]": 10.0,
        "server;main (server);__x64_sys_epoll_wait_[k]": 8.0,
        "server;__x64_sys_futex_[k]": 0.05,
        "server;__x64_sys_sendto_[k];net_rx_action_[k];tcp_v4_rcv_[k]": 20.0,
        "idle": 300.0,
        "other programs;python;f (python)": 50.0,
    },
    "threads": {
        "server;main (server);parse (server)": 4.0,
        "server;main (server);reply (server)": 2.0,
        "server;main (server);memcpy (libc)": 0.1,
        "server;main (server);__x64_sys_sendto_[k]": 10.0,
        "server;__x64_sys_futex_[k]": 0.05,
        "server;__do_sys_clone_[k];copy_process_[k]": 30.0,
        "server;__x64_sys_sendto_[k];net_rx_action_[k];tcp_v4_rcv_[k]": 20.0,
        "idle": 200.0,
    },
}


@dataclass
class Raced:
    stacks: Spent
    busy: BlockValues = field(default_factory=dict)
    busy_sampled: BlockValues = field(default_factory=dict)


def raced(folder: Path, **changes: object) -> Anatomy:
    race = synthetic.SyntheticRace(
        contenders=list(SPENT),
        connections=[10],
        cpu_us={"epoll": 40.0, "threads": 60.0},
        spent_us=SPENT,
        sampled_blocks=8,
    )
    ledger = read(synthetic.make(folder / "race.sqlite", replace(race, **changes)))
    (group,) = analyse(ledger).groups
    assert group.anatomy
    return group.anatomy


def test_rows_add_up_without_idling_and_other_programs(tmp_path: Path) -> None:
    found = raced(tmp_path)
    assert found.rows == [
        "user code;server;parse",
        "user code;server;reply",
        "user code;other",
        "system calls;sendto",
        "system calls;epoll_wait",
        "system calls;other",
        "start of tasks",
        "packets received;tcp",
        TOTAL,
    ]
    for name, whole in (("epoll", 44.15), ("threads", 66.15)):
        spent = {row: estimate.value or 0.0 for row, estimate in found.spent[name].items()}
        assert spent.pop(TOTAL) == pytest.approx(sum(spent.values()))
        assert sum(spent.values()) == pytest.approx(whole, rel=0.02)
    assert found.spent["threads"]["system calls;epoll_wait"].value == 0


def test_what_makes_the_difference(tmp_path: Path) -> None:
    found = raced(tmp_path)
    assert found.front == "epoll"
    more = found.more["threads"]
    shown = {row: difference.value for row, difference in more.items() if difference.larger}
    assert set(shown) == {"system calls;epoll_wait", "start of tasks", TOTAL}
    assert shown["start of tasks"] == pytest.approx(30, rel=0.02)
    assert shown["system calls;epoll_wait"] == pytest.approx(-8, rel=0.02)
    said = why_sentence(found, "threads")
    assert said.startswith("threads needs 2")
    assert "µs more than epoll (" in said
    causes, less = said.split("; ")
    assert causes.split(": ")[1].startswith("start of tasks ")
    assert less.startswith("it needs less for epoll_wait ")


def test_a_server_that_only_idled_has_no_rows() -> None:
    same = dict.fromkeys(range(6), 9.0)
    assert anatomy({"a": Raced({})}, "a", BLOCKS) is None
    faults = Raced({"b;f (b);exc_page_fault_[k]": same})
    found = anatomy({"a": Raced({}), "b": faults}, "a", BLOCKS)
    assert found
    assert found.rows == ["page faults", TOTAL]
    assert (found.front, list(found.spent)) == (None, ["b"])


def test_too_few_blocks_show_nothing(tmp_path: Path) -> None:
    found = raced(tmp_path, sampled_blocks=2)
    assert not any(difference.larger for difference in found.more["threads"].values())
    assert not why_sentence(found, "threads")


def test_sampled_trials_are_in_no_other_figure(tmp_path: Path) -> None:
    made = {
        blocks: analyse(
            read(synthetic.make(tmp_path / f"{blocks}", spent_us=SPENT, sampled_blocks=blocks))
        )
        for blocks in (0, 6)
    }
    assert made[6].trial_kinds["sampled"]
    for mine, theirs in zip(made[0].groups, made[6].groups, strict=True):
        for one, other in zip(mine.cells, theirs.cells, strict=True):
            assert one.estimates == other.estimates
            assert one.blocks == other.blocks


def test_the_report_has_the_table(tmp_path: Path) -> None:
    raced(tmp_path)
    text = to_markdown(view_of(analyse(read(tmp_path / "race.sqlite"))))
    assert "Why: what a request's CPU time is spent on" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| start of tasks")]
    epoll, threads = (figure.strip() for figure in row.strip("| ").split("|")[1:])
    assert epoll == "–"
    assert threads.startswith(("29", "30"))
    assert "+" in threads
    (row,) = [line for line in text.splitlines() if line.startswith("| epoll\\_wait")]
    assert row.split("|")[3].strip().startswith("–; −8"), "and what it saves"
    assert "threads needs 2" in text


@pytest.mark.parametrize(
    ("stack", "words"),
    [
        (
            "threads;[unknown] (generated code)",
            "31 % of threads is code that it made",
        ),
        (
            "threads;[unknown] (libx.so)",
            "31 % of threads is code of libx.so without",
        ),
        (
            "threads;[unknown] (libc.so.6);write (libc.so.6);__x64_sys_write_[k]",
            "hides who called it in 31 % of threads",
        ),
    ],
)
def test_code_without_names_is_said(tmp_path: Path, stack: str, words: str) -> None:
    spent = {**SPENT, "threads": SPENT["threads"] | {stack: 30.0}}
    raced(tmp_path, spent_us=spent)
    assert words in to_markdown(view_of(analyse(read(tmp_path / "race.sqlite"))))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("user code;server;parse", "parse (server)"),
        ("user code;server;other", "other code of server"),
        (f"user code;server;{'x' * 50}", f"{'x' * 39}… (server)"),
        ("user code;other", "other user code"),
        ("system calls;sendto", "sendto"),
        ("packets received;tcp", "packets received, tcp"),
        ("page faults", "page faults"),
    ],
)
def test_a_row_in_words(path: str, words: str) -> None:
    assert label(path) == words


def test_equals_are_called_different_in_at_most_one_of_twenty_tables() -> None:
    """Rows are counts of samples, many of them few: 250 µs each, of 2,000 requests."""
    chance, blocks, tables = np.random.default_rng(33), 8, 300
    rates = {
        "a;x (a)": 40,
        "a;__x64_sys_close_[k]": 300,
        "a;exc_page_fault_[k]": 3,
        "a;schedule_[k]": 25,
    }
    wrong = 0
    for _ in range(tables):
        step = {
            name: Raced(
                {
                    path: {block: chance.poisson(rate) / 8 for block in range(blocks)}
                    for path, rate in rates.items()
                }
            )
            for name in ("a", "b", "c")
        }
        found = anatomy(step, "a", BLOCKS)
        assert found
        wrong += any(row.larger for of in found.more.values() for row in of.values())
    assert wrong <= 0.05 * tables + 2 * (0.05 * 0.95 * tables) ** 0.5
