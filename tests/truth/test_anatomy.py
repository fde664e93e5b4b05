"""What a request's time is spent on, against servers that spend it on one known thing.

Each measures by itself how long that takes (planted.c).
"""

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from tests.commands import run_well
from tests.e2e.racing import (
    PRIORITY,
    alone,
    environment,
    needs_programs,
    needs_two_cpus,
    race,
    regatta,
    study,
)
from tests.ledgers import rows
from tests.servers import built

PLANTED = {
    "nothing": (),
    "code": ("50",),
    "calls": ("200",),
    "pages": ("16",),
    "turns": ("5",),
    "bytes": ("102400",),
}
ROWS = {
    "code": ("user code;planted;planted_code",),
    "calls": ("system calls;getppid", "system calls;entry", "user code;libc.so.6;syscall"),
    "pages": ("page faults", "system calls;madvise", "user code;planted;main"),
    "turns": ("system calls;futex", "system calls;entry", "user code;libc.so.6", "scheduling"),
    "bytes": ("system calls;sendto", "packets received"),
}
"""Where it must be found: its own row, then what else it takes, as the way into a call."""

pytestmark = [needs_programs, needs_two_cpus]


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = str(built("tests/truth/planted"))
    commands = {name: [program, "{port}", name, *amount] for name, amount in PLANTED.items()}
    cells = one_load(commands, rate=1500)
    text = study(cells, blocks=6, sampled_blocks=8, slices=4, answers_may_differ="true")
    with alone():
        return race(tmp_path_factory.mktemp("planted"), text, prefix=PRIORITY)


def one_load(commands: Mapping[str, Sequence[str]], rate: int) -> str:
    """The tables of these contenders, asked at one rate."""
    contenders = (
        f"[contenders.{name}]\ncommand = {json.dumps(words)}\n" for name, words in commands.items()
    )
    return f"""{"".join(contenders)}
[[cells]]
contenders = {json.dumps(list(commands))}
connections = 4
load = "open"
dialect = "http"
path = "/"
rate = {rate}
duration_s = 1.5
"""


def anatomy_of(race: Path) -> Any:
    (group,) = json.loads(run_well(*regatta("report", str(race), "--json"), env=environment()))[
        "groups"
    ]
    return group["anatomy"]


@pytest.fixture(scope="module")
def anatomy(raced: Path) -> Any:
    found = anatomy_of(raced)
    assert found["front"] == "nothing"
    return found


def planted_us(raced: Path, name: str) -> float:
    """By the server's own clock."""
    said = rows(
        raced,
        "SELECT server FROM trial JOIN cell ON cell.id = cell_id "
        f"WHERE contender = '{name}' AND kind = 'sampled'",
    )
    found = [re.search(r"(\d+) ns in each", text) for (text,) in said]
    assert all(found)
    return sum(int(each[1]) for each in found if each) / len(found) / 1e3


@pytest.mark.long
@pytest.mark.parametrize("name", ROWS)
def test_a_planted_cost_is_found_in_its_row(raced: Path, anatomy: Any, name: str) -> None:
    more = anatomy["more"][name]
    assert more.pop("all")["larger"] or name == "turns"
    planted = {row: of["value"] for row, of in more.items() if row.startswith(ROWS[name])}
    others = {row: of["value"] for row, of in more.items() if of["larger"] and row not in planted}
    assert more[ROWS[name][0]]["larger"], planted
    assert all(abs(value) < 1 for value in others.values()), others
    if name != "bytes":  # the others measure it by themselves, with what interrupts them meanwhile
        truth_us = planted_us(raced, name)
        assert abs(sum(planted.values()) - truth_us) < 2 + 0.2 * truth_us, (truth_us, planted)
    if name == "code":
        assert abs(sum(planted.values()) - 50) < 2


FOLDER = Path(__file__).parent


def in_go(folder: Path) -> list[str]:
    program = folder / "planted-go"
    run_well("go", "build", "-o", str(program), str(FOLDER / "planted.go"))
    return [str(program)]


def in_node(_: Path) -> list[str]:
    options = ("--perf-basic-prof", "--max-inlined-bytecode-size=0")
    return ["node", *options, str(FOLDER / "planted.js")]


@pytest.mark.long
@pytest.mark.parametrize(("language", "command"), [("go", in_go), ("node", in_node)])
def test_three_microseconds_are_found_in_their_function(
    tmp_path: Path, language: str, command: Callable[[Path], list[str]]
) -> None:
    if shutil.which(language) is None:
        pytest.skip(f"{language} is not installed")
    words, amounts = command(tmp_path), {"nothing": "0", "code": "3"}
    cells = one_load({name: [*words, "{port}", us] for name, us in amounts.items()}, rate=3000)
    with alone():
        out = race(tmp_path, study(cells, blocks=6, sampled_blocks=10, slices=4), prefix=PRIORITY)
    more = anatomy_of(out)["more"]["code"]
    planted = {row: of for row, of in more.items() if "plantedCode" in row}
    assert any(of["larger"] for of in planted.values()), more
    truth_us = planted_us(out, "code")
    assert sum(of["value"] for of in planted.values()) == pytest.approx(
        truth_us, abs=0.2 * truth_us
    )
    assert not [
        row for row, of in more.items() if of["larger"] and row not in planted and row != "all"
    ], more


@pytest.mark.long
def test_the_rows_add_up_to_the_busy_time(tmp_path: Path) -> None:
    """Under bursts, where CPUs have no time to sleep; sampling itself costs a few per cent."""
    cells = """
[[cells]]
designs = ["epoll", "thread-per-client", "fork-per-client"]
connections = 100
work = "snapshot"
requests = 3000
"""
    with alone():
        out = race(tmp_path, study(cells, blocks=6, sampled_blocks=6, slices=2), prefix=PRIORITY)
    found = anatomy_of(out)
    for name, share in found["found"].items():
        assert abs(share / found["cost"][name] - 1) < 0.05, found
    # Sampled blocks are not the timed ones: of one contender the host alone moves this by a tenth.
    assert fmean(found["cost"].values()) < 1.1, found
