"""What an engine is told, word by word."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from regatta.errors import PlacementError, TrialError
from regatta.machine import perf
from regatta.machine.cgroup import Home
from regatta.machine.containers import placement, program
from regatta.machine.containers.engine import Engine
from regatta.machine.containers.leash import Leash
from regatta.machine.containers.line import DialledLine
from regatta.machine.containers.placement import ContainerSide, place_in_containers
from regatta.machine.containers.program import check_cpus, run_words
from regatta.machine.perf import Perf, without_perf
from regatta.machine.placed import ContainerWish
from regatta.machine.started import Order
from regatta.trial.side import Side as SideOfTrial

PERF = Perf("/usr/bin/perf", "6.1", ("task-clock",), None, None, by_group=True)


@dataclass(frozen=True)
class Side:
    cpus: tuple[int, ...] = (2, 5)
    groups: Home | None = None
    engine: Engine = Engine("podman", "/usr/bin/podman", "4.3.1", "runc")
    label: str = "regatta.race=r1"
    network: str = "container:regatta-r1-1"
    image: str = "localhost/regatta:1234"
    mounts: tuple[Path, ...] = ()


def order(folder: Path, *words: str) -> Order:
    return Order(name="server", folder=folder, program=words, perf=without_perf(None), wanted=())


def pairs(words: list[str], option: str) -> list[str]:
    return [value for word, value in zip(words, words[1:], strict=False) if word == option]


def test_each_program_has_a_container_with_its_sides_cpus_network_and_label(tmp_path: Path) -> None:
    words = run_words(Side(), order(tmp_path, "/opt/server", "--x"), "regatta-r1-7")
    assert words[0] == "run"
    for option, value in {
        "--name": "regatta-r1-7",
        "--label": "regatta.race=r1",
        "--network": "container:regatta-r1-1",
        "--cpuset-cpus": "2,5",
        "--pull": "never",
        "--workdir": str(tmp_path),
        "--entrypoint": "/opt/server",
    }.items():
        assert pairs(words, option) == [value]
    assert "--rm" in words
    assert words[-2:] == ["localhost/regatta:1234", "--x"]


def test_our_programs_are_mounted_read_only_and_their_folder_is_not(tmp_path: Path) -> None:
    with DialledLine(tmp_path, "server", Path("/opt/dial")) as line:
        ours = replace(order(tmp_path, "/opt/server", "--ready-fd", "3"), line=line)
        words = run_words(Side(mounts=(Path("/study"),)), ours, "name")
    assert pairs(words, "--mount") == [
        f"type=bind,source={tmp_path},target={tmp_path}",
        "type=bind,source=/study,target=/study,readonly",
        "type=bind,source=/opt/server,target=/opt/server,readonly",
        "type=bind,source=/opt/dial,target=/opt/dial,readonly",
    ]
    assert pairs(words, "--entrypoint") == ["/opt/dial"]
    assert words[-5:] == ["localhost/regatta:1234", "server.line", "/opt/server", "--ready-fd", "3"]


def test_a_program_in_an_image_of_its_own_is_not_mounted(tmp_path: Path) -> None:
    boxed = replace(
        order(tmp_path, "/usr/sbin/nginx", "-g", "daemon off;"),
        image="nginx:1.27",
        environment={"REGATTA_PADDING": "xx"},
    )
    words = run_words(Side(), boxed, "name")
    assert len(pairs(words, "--mount")) == 1
    assert pairs(words, "--env") == ["LC_ALL=C", "REGATTA_PADDING=xx"]
    assert words[-3:] == ["nginx:1.27", "-g", "daemon off;"]


def test_perf_beside_a_program_follows_its_group_or_else_its_threads() -> None:
    command = PERF.attached_command("server", ["task-clock"], 77, "box/x", (2, 5))
    assert command
    assert pairs(command, "-C") == ["2,5"]
    assert "--pid" not in command
    assert pairs(command, "--for-each-cgroup") == ["box/x"]
    by_threads = PERF.attached_command("server", ["task-clock"], 77, None, (2, 5))
    assert by_threads
    assert by_threads[-2:] == ["--pid", "77"]
    assert "--" not in command + by_threads
    assert without_perf(None).attached_command("server", ["task-clock"], 77, None, (0,)) is None
    assert PERF.follows == perf.GROUP


def test_a_container_that_may_run_elsewhere_is_no_part_of_a_race(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(program.os, "sched_getaffinity", lambda _: {0, 1, 3})
    check_cpus(1, (0, 1, 2, 3))
    with pytest.raises(LookupError, match="may run on CPU 1,3, which is not its side's"):
        check_cpus(1, (0,))


# An engine whose program is gone before what it said has come through.
SLOW_ENGINE = """
import os, socket, sys, time
line = socket.socket(socket.AF_UNIX)
line.connect("server.line")
line.close()
time.sleep(0.3)
print("its last words", file=sys.stderr)
sys.exit(3)
"""


def test_a_failure_quotes_what_the_engine_passes_on_late(tmp_path: Path) -> None:
    (tmp_path / "engine").write_text(f"#!{sys.executable}{SLOW_ENGINE}")
    (tmp_path / "engine").chmod(0o755)
    engine = Engine("podman", str(tmp_path / "engine"), "4.3.1", "runc")
    place = ContainerSide(
        enter=(),
        cpus=(0,),
        engine=engine,
        leash=cast(Leash, Named()),
        network="host",
        image="image",
        dial=Path("/opt/dial"),
    )
    with SideOfTrial(place, "server", tmp_path) as server:
        server.start(["/opt/server"], without_perf(None), (), speaks="--ready-fd")
        with pytest.raises(TrialError, match="^the server exited before .*: its last words$"):
            server.ready()


class Named:
    """A leash that only names."""

    label = "regatta.race=r1"

    def name(self) -> str:
        return "regatta-r1-1"


def test_who_is_not_root_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement.os, "geteuid", lambda: 1000)
    with pytest.raises(PlacementError, match="containers are raced by root alone.*run as root"):
        place_in_containers((0,), (1,), "none", ContainerWish())
