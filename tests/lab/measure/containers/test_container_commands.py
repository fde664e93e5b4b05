"""What an engine is told, word by word."""

import sys
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from regatta.errors import PlacementError, TrialError
from regatta.measure.accounts.cgroup import Home
from regatta.measure.perf import Perf
from regatta.measure.places.containers import placement, program
from regatta.measure.places.containers.engine import Engine
from regatta.measure.places.containers.placement import place_in_containers
from regatta.measure.places.containers.program import (
    ContainerSide,
    DialledChannel,
    check_cpus,
    run_words,
)
from regatta.measure.places.containers.reaper import Reaper
from regatta.measure.places.side import ProgramSpec
from regatta.measure.places.sides import ContainerWish
from regatta.measure.trial.side import Side as SideOfTrial


class Named:
    """A leash that only names."""

    label = "regatta.race=r1"

    def name(self) -> str:
        return "regatta-r1-1"


@dataclass(frozen=True)
class Side:
    leash: Named = Named()
    cpus: tuple[int, ...] = (2, 5)
    groups: Home | None = None
    engine: Engine = Engine("podman", "/usr/bin/podman", "4.3.1", "runc")
    network: str = "container:regatta-r1-1"
    mounts: tuple[Path, ...] = ()


def order(folder: Path, *words: str) -> ProgramSpec:
    return ProgramSpec(name="server", folder=folder, program=words, perf=Perf(), wanted=())


def pairs(words: list[str], option: str) -> list[str]:
    return [value for word, value in zip(words, words[1:], strict=False) if word == option]


def test_our_program_is_mounted_read_only_beside_its_folder_on_its_sides_cpus(
    tmp_path: Path,
) -> None:
    with closing(DialledChannel(tmp_path, "server", Path("/opt/dial"))) as line:
        ours = replace(order(tmp_path, "/opt/server", "--ready-fd", "3"), channel=line)
        words = run_words(Side(mounts=(Path("/study"),)), ours, "regatta-r1-7")
    for option, value in {
        "--name": "regatta-r1-7",
        "--label": "regatta.race=r1",
        "--network": "container:regatta-r1-1",
        "--cpuset-cpus": "2,5",
        "--pull": "never",
        "--workdir": str(tmp_path),
        "--entrypoint": "/opt/dial",
    }.items():
        assert pairs(words, option) == [value]
    system = ["/usr", "/lib", "/lib64", "/etc/ld.so.cache"]
    mounts = [mount.partition(",target=")[2] for mount in pairs(words, "--mount")]
    shown = [*system, "/study", "/opt/server", "/opt/dial"]
    assert sorted(mounts) == sorted([str(tmp_path), *(f"{path},readonly" for path in shown)])
    assert {"run", "--rm"} <= {*words}
    dialled = ["server.channel", "/opt/server", "--ready-fd", "3"]
    assert words[-5:] == ["localhost/regatta:1", *dialled]


def test_a_program_with_its_own_image_is_not_mounted(tmp_path: Path) -> None:
    boxed = replace(
        order(tmp_path, "/usr/sbin/nginx", "-g", "daemon off;"),
        image="nginx:1.27",
        environment={"REGATTA_PADDING": "xx"},
    )
    words = run_words(Side(), boxed, "name")
    assert len(pairs(words, "--mount")) == 1
    assert pairs(words, "--env") == ["LC_ALL=C", "REGATTA_PADDING=xx"]
    assert words[-3:] == ["nginx:1.27", "-g", "daemon off;"]


def test_a_container_on_cpus_of_another_side_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(program.os, "sched_getaffinity", lambda _: {0, 1, 3})
    check_cpus(1, (0, 1, 2, 3))
    with pytest.raises(LookupError, match="may run on CPU 1,3 of another side"):
        check_cpus(1, (0,))


# An engine whose program is gone before what it said has come through.
SLOW_ENGINE = """
import os, socket, sys, time
line = socket.socket(socket.AF_UNIX)
line.connect("server.channel")
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
        leash=cast(Reaper, Named()),
        network="host",
        dial=Path("/opt/dial"),
    )
    with SideOfTrial(place, "server", tmp_path) as server:
        server.start(["/opt/server"], Perf(), (), channel_option="--ready-fd")
        with pytest.raises(TrialError, match="^the server exited before .*: its last words$"):
            server.ready()


def test_containers_need_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement.os, "geteuid", lambda: 1000)
    with pytest.raises(PlacementError, match="only root may count.*run as root"):
        place_in_containers((0,), (1,), "none", ContainerWish())
